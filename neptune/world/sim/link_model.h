// What lies between the simulated hosts: delays, cuts and damage.
//
// Source: [Chu03] 5.1 (constant delays); network_profile.h for every constant.
// Threads: the simulation's thread.
// Units: one-way delays; hosts by their 0-based index.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/network_profile.h"

namespace neptune {

// The state of a link, as faults change it. Probabilities are in [0, 1].
struct LinkConditions {
  // Multiplies every latency and its jitter.
  double latency_factor = 1.0;
  // A datagram never arrives.
  double datagram_loss = 0.0;
  // A datagram arrives a second time, later.
  double datagram_duplicate = 0.0;
  // A datagram is held back up to ten latencies, so that later ones overtake it.
  double datagram_reorder = 0.0;
  // A stream segment is lost and sent again: no byte is missing, but all after it wait.
  double stream_loss = 0.0;
};

enum class Carrier { kStream, kDatagram };

// What a test does to messages on purpose, to plant a bug that checkers must find: changes the bytes, or
// loses them by returning false. A stream gives what was written at once.
using Tamper = std::function<bool(Carrier carrier, std::string* bytes)>;

class LinkModel {
 public:
  // Names a cut; 0 is never given out.
  using CutId = int;

  LinkModel(const NetworkProfile& profile, RandomSource& random)
      : profile_(profile), random_(random) {}

  // Between different hosts that have no conditions of their own.
  void SetConditions(const LinkConditions& conditions) { conditions_ = conditions; }
  const LinkConditions& conditions() const { return conditions_; }
  // In one direction; also from a host to itself.
  void SetConditions(int from, int to, const LinkConditions& conditions) {
    own_conditions_[{from, to}] = conditions;
  }

  // Nothing passes from a host of `from` to one of `to` until the cut heals; with `both_ways`, nor
  // back. With `loss` below 1 the cut is leaky: a datagram is lost, and a stream's segment sent again,
  // with that probability.
  CutId Cut(std::set<int> from, std::set<int> to, bool both_ways, double loss = 1);
  void Heal(CutId cut) { cuts_.erase(cut); }
  void HealAll() { cuts_.clear(); }
  bool IsCut(int from, int to) const;

  void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }
  // False if a planted bug loses the message.
  bool Pass(Carrier carrier, std::string* bytes) { return !tamper_ || tamper_(carrier, bytes); }
  // Adds to each datagram what `extra` says of the host it goes to: the delay of a busy receiver.
  void DelayDatagrams(std::function<Duration(int to)> extra) { datagram_extra_ = std::move(extra); }

  // When the next message sent now would take; draws from the random numbers.
  Duration StreamDelay(int from, int to, TimePoint now, size_t size);
  // The delays after which copies of the datagram arrive: none if it is lost, two if duplicated.
  std::vector<Duration> DatagramDelays(int from, int to, TimePoint now, size_t size);

 private:
  struct CutSides {
    std::set<int> from;
    std::set<int> to;
    bool both_ways;
    double loss;

    bool Divides(int a, int b) const {
      return (from.contains(a) && to.contains(b)) ||
             (both_ways && from.contains(b) && to.contains(a));
    }
  };

  const LinkConditions& ConditionsOf(int from, int to) const;
  // Of the leaky cuts between them.
  double LeakLoss(int from, int to) const;
  const LinkCost& CostOf(int from, int to) const {
    return from == to ? profile_.loopback : profile_.between_hosts;
  }
  bool Happens(double probability) { return probability > 0 && random_.Uniform() < probability; }
  Duration Delay(Duration latency, Duration jitter_mean, double factor);
  Duration Queueing(int from, int to, TimePoint now, size_t size);

  const NetworkProfile profile_;
  RandomSource& random_;
  LinkConditions conditions_;
  std::map<std::pair<int, int>, LinkConditions> own_conditions_;
  std::map<CutId, CutSides> cuts_;
  CutId next_cut_ = 1;
  std::function<Duration(int to)> datagram_extra_;
  std::map<std::pair<int, int>, TimePoint> busy_until_;  // links of limited bandwidth
  Tamper tamper_;
};

}  // namespace neptune
