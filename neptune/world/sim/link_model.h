// The links between simulated hosts: delays, cuts and damage.
//
// Source: [Chu03] 5.1 (constant delays); network_profile.h for every constant.
// Threads: the simulation's thread.
// Units: one-way delays; hosts by their 0-based index.

#pragma once

#include <cstddef>
#include <cstdint>
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

// The state of a link, as set by faults. Probabilities are in [0, 1].
struct LinkConditions {
  // Multiplies every latency and its jitter.
  double latency_factor = 1.0;
  // Probability that a datagram never arrives.
  double datagram_loss = 0.0;
  // Probability that a datagram arrives a second time, later.
  double datagram_duplicate = 0.0;
  // Probability that a datagram is held back by up to ten latencies, so that later ones overtake
  // it.
  double datagram_reorder = 0.0;
  // Probability that a stream segment is lost and sent again: no byte is missing, but all later
  // bytes wait.
  double stream_loss = 0.0;
};

// How many messages had each fate.
struct LinkCounts {
  uint64_t blocked = 0;  // by a cut
  uint64_t lost = 0;     // datagrams, and segments of streams that were sent again
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t slowed = 0;
};

enum class Carrier { kStream, kDatagram };

// Changes messages on purpose, to plant a bug that checkers must find: changes the bytes, or drops
// the message by returning false. A stream passes the bytes of one write at once.
using Tamper = std::function<bool(Carrier carrier, std::string* bytes)>;

class LinkModel {
 public:
  // Identifies a cut; 0 is never used.
  using CutId = int;

  LinkModel(const NetworkProfile& profile, RandomSource& random)
      : profile_(profile), random_(random) {}

  // Conditions between different hosts that have none of their own.
  void SetConditions(const LinkConditions& conditions) { conditions_ = conditions; }
  const LinkConditions& conditions() const { return conditions_; }
  // Conditions of one direction; `from` and `to` may be the same host.
  void SetConditions(int from, int to, const LinkConditions& conditions) {
    own_conditions_[{from, to}] = conditions;
  }

  // Blocks everything from a host of `from` to one of `to` until the cut heals, and the other
  // direction too if `both_ways`. With `loss` below 1 the cut is leaky: with that probability a
  // datagram is lost, or a stream's segment sent again.
  CutId Cut(std::set<int> from, std::set<int> to, bool both_ways, double loss = 1);
  void Heal(CutId cut) { cuts_.erase(cut); }
  void HealAll() { cuts_.clear(); }
  bool IsCut(int from, int to) const;
  const LinkCounts& counts() const { return counts_; }

  void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }
  // Returns false if a planted bug drops the message.
  bool Pass(Carrier carrier, std::string* bytes) { return !tamper_ || tamper_(carrier, bytes); }
  // Adds extra(to) to the delay of each datagram: the delay of a busy receiver.
  void DelayDatagrams(std::function<Duration(int to)> extra) { datagram_extra_ = std::move(extra); }

  // Returns the delay of the next message if sent now; draws random numbers.
  Duration StreamDelay(int from, int to, TimePoint now, size_t size);
  // Returns the delays of the copies of a datagram: none if it is lost, two if it is duplicated.
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
  // Loss probability of the leaky cuts between the two hosts.
  double LeakLoss(int from, int to) const;
  const LinkCost& CostOf(int from, int to) const {
    return from == to ? profile_.loopback : profile_.between_hosts;
  }
  // Draws whether it happens, and counts it then.
  bool Happens(double probability, uint64_t& count) {
    if (!(probability > 0 && random_.Uniform() < probability)) return false;
    ++count;
    return true;
  }
  Duration Delay(Duration latency, Duration jitter_mean, double factor);
  Duration Queueing(int from, int to, TimePoint now, size_t size);

  const NetworkProfile profile_;
  RandomSource& random_;
  LinkConditions conditions_;
  std::map<std::pair<int, int>, LinkConditions> own_conditions_;
  std::map<CutId, CutSides> cuts_;
  CutId next_cut_ = 1;
  std::function<Duration(int to)> datagram_extra_;
  // End of the last transmission, on links of limited bandwidth
  std::map<std::pair<int, int>, TimePoint> busy_until_;
  Tamper tamper_;
  mutable LinkCounts counts_;
};

}  // namespace neptune
