// Policies that choose one of a partition's replicas for a call.
//
//   probe_pool    the best of what probes and answers have reported lately; waits for nothing (probe_pool.h)
//   poll          asks poll_size random replicas for their load index, takes the least loaded that
//                 answers
//   broadcast     the least loaded as last announced
//   round_robin   one after the other
//   random        every replica alike
//
// Source: [Shen02] 3.2 (policies), 3.3.2 (slow polls are discarded), 4.3 (poll size 3, 10 ms).
// Departs from source: none.
// No I/O, no clock, no threads; PollingAgent sends polls and feeds
// answers in. Threads: thread-compatible. Units: load index = active + queued requests. Shapes:
// indices point into the candidates that were given. Limits: 1 <= poll_size <= kPollSizeMax.

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/random_source.h"

namespace neptune {

inline constexpr size_t kPollSizeMax = 8;

enum class BalancingPolicy { kRandom, kRoundRobin, kBroadcast, kPoll, kProbePool };

// The name as above.
StatusOr<BalancingPolicy> ParseBalancingPolicy(std::string_view name);

// Which replicas to poll: distinct indices below candidate_count, at most poll_size, in random
// order.
std::vector<size_t> ChoosePollTargets(size_t candidate_count, size_t poll_size,
                                      RandomSource& random);

// The index of the smallest load; one of them at random if there are several.
// REQUIRES: `loads` is not empty.
size_t ChooseLeastLoaded(std::span<const uint32_t> loads, RandomSource& random);

// Collects the answers of one poll. Ties go to the answer that came first, so a nearer server wins.
// Targets are numbers below kPollSizeMax.
class PollTally {
 public:
  // With `stop_at_idle` an idle server's answer decides; the papers' policy waits for all.
  explicit PollTally(size_t target_count, bool stop_at_idle = true)
      : outstanding_count_(target_count), stop_at_idle_(stop_at_idle) {}

  // A second answer of one target (a datagram may come twice) changes nothing.
  void Answer(size_t target, uint32_t load_index) {
    if (target >= answered_.size() || answered_[target] || refused_[target]) return;
    answered_[target] = true;
    --outstanding_count_;
    if (best_target_ && best_load_ <= load_index) return;
    best_target_ = target;
    best_load_ = load_index;
  }
  // The target will not answer: nobody listens there.
  void Refuse(size_t target) {
    if (target >= answered_.size() || answered_[target] || refused_[target]) return;
    refused_[target] = true;
    --outstanding_count_;
  }
  // Nothing better can come: none is left that may answer, or one is idle.
  bool decided() const {
    return outstanding_count_ == 0 || (stop_at_idle_ && best_target_ && best_load_ == 0);
  }
  const std::bitset<kPollSizeMax>& answered() const { return answered_; }
  const std::bitset<kPollSizeMax>& refused() const { return refused_; }
  // The least loaded target that answered; nullopt if none did.
  std::optional<size_t> best() const { return best_target_; }

 private:
  size_t outstanding_count_;
  bool stop_at_idle_;
  std::bitset<kPollSizeMax> answered_;
  std::bitset<kPollSizeMax> refused_;
  std::optional<size_t> best_target_;
  uint32_t best_load_ = 0;
};

}  // namespace neptune
