// Policies that choose one of a partition's replicas for a call.
//
//   probe_pool    the best replica according to recent probes and answers; never waits
//                 (probe_pool.h)
//   poll          polls poll_size random replicas for their load index and takes the least loaded
//                 one that answers
//   broadcast     the least loaded replica according to the last announcements
//   round_robin   each replica in turn
//   random        a uniformly random replica
//
// Source: [Shen02] 3.2 (policies), 3.3.2 (slow polls are discarded), 4.3 (poll size 3, 10 ms).
// No I/O, no clock, no threads; PollingAgent sends the polls and passes in the answers.
// Threads: thread-compatible.
// Units: load index = active + queued requests.
// Shapes: indices refer to the candidates passed in.
// Limits: 1 <= poll_size <= kPollSizeMax.

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

// Parses a name of the list above.
StatusOr<BalancingPolicy> ParseBalancingPolicy(std::string_view name);

// Returns the replicas to poll: at most poll_size distinct indices below candidate_count, in random
// order.
std::vector<size_t> ChoosePollTargets(size_t candidate_count, size_t poll_size,
                                      RandomSource& random);

// Returns the index of the smallest load; ties are broken at random.
// REQUIRES: `loads` is not empty.
size_t ChooseLeastLoaded(std::span<const uint32_t> loads, RandomSource& random);

// Collects the answers of one poll. Ties go to the first answer, so a nearer server wins. Targets
// are numbers below kPollSizeMax.
class PollTally {
 public:
  // With `stop_at_idle` the answer of an idle server decides at once; the papers' policy waits for
  // all.
  explicit PollTally(size_t target_count, bool stop_at_idle = true)
      : outstanding_count_(target_count), stop_at_idle_(stop_at_idle) {}

  // A second answer from the same target (a duplicated datagram) is ignored.
  void Answer(size_t target, uint32_t load_index) {
    if (target >= answered_.size() || answered_[target] || refused_[target]) return;
    answered_[target] = true;
    --outstanding_count_;
    if (best_target_ && best_load_ <= load_index) return;
    best_target_ = target;
    best_load_ = load_index;
  }
  // Records that the target will not answer because its port is closed.
  void Refuse(size_t target) {
    if (target >= answered_.size() || answered_[target] || refused_[target]) return;
    refused_[target] = true;
    --outstanding_count_;
  }
  // True if no better answer can come: no target is outstanding, or one is idle.
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
