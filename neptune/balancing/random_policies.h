// The policies that need no messages of their own: random, round_robin, broadcast.
//
// Source: [Shen02] 3.2.
// Threads: the loop's own.

#pragma once

#include "neptune/balancing/replica_policy.h"
#include "neptune/world/random_source.h"

namespace neptune {

// A uniformly random candidate.
class RandomPolicy final : public ReplicaPolicy {
 public:
  explicit RandomPolicy(RandomSource& random) : random_(random) {}
  ReplicaChoice Choose(const ReplicaQuestion& question) override;

 private:
  RandomSource& random_;
};

// Each candidate in turn, over all partitions.
class RoundRobinPolicy final : public ReplicaPolicy {
 public:
  ReplicaChoice Choose(const ReplicaQuestion& question) override;

 private:
  uint64_t round_ = 0;
};

// The candidate with the smallest announced load; ties are broken at random.
class BroadcastPolicy final : public ReplicaPolicy {
 public:
  explicit BroadcastPolicy(RandomSource& random) : random_(random) {}
  ReplicaChoice Choose(const ReplicaQuestion& question) override;

 private:
  RandomSource& random_;
};

}  // namespace neptune
