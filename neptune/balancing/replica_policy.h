// A policy that chooses among the replicas of a partition. Each loop that makes calls has one
// instance, owned by its ReplicaChooser.
//
//   random_policies.h     random, round_robin, broadcast
//   poll_policy.h         poll
//   probe_pool_policy.h   probe_pool
//
// A program that embeds nodes may bring a policy of its own (NodeOptions::make_replica_policy), for
// example one that knows costs which servers do not report.
//
// Threads: the loop's own; Choose runs on a user-level thread and may park.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "neptune/balancing/load_report.h"
#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/world/loop.h"
#include "neptune/world/random_source.h"

namespace neptune {

// The replica on the calling node itself, whose load is known exactly.
struct LocalReplica {
  size_t index = 0;  // into the replicas
  uint32_t load_index = 0;
};

// What a caller of many partitions at once knows besides.
struct ReplicaHints {
  // Indices of replicas, in ascending order, that cost the caller fewer messages than the others:
  // it asks their servers anyway, or they serve more of what is left. Empty: none does.
  std::span<const size_t> preferred = {};
  // Share of one call that this choice is. A call to n partitions makes n choices, and is probed
  // for as one.
  double call_share = 1;
};

// What is chosen for; valid during Choose only, and not after it has parked.
struct ReplicaQuestion {
  const ServiceName& service;
  PartitionId partition;
  const std::vector<Replica>& replicas;
  // Indices of the replicas that were not tried yet, in ascending order; at least one.
  const std::vector<size_t>& candidates;
  TimePoint deadline = kNever;
  // Set if the calling node has a replica, which is a candidate.
  std::optional<LocalReplica> local = std::nullopt;
  // May prefer replicas that were tried, which are then ignored.
  ReplicaHints hints = {};
};

// One choice, to be concluded exactly once.
struct ReplicaChoice {
  size_t index = 0;  // into the replicas given
  // The policy's number for the choice; 0: the policy does not ask for its outcome.
  uint64_t record = 0;
};

// A uniformly random candidate, whose outcome no policy asks for.
inline ReplicaChoice RandomCandidate(const ReplicaQuestion& question, RandomSource& random) {
  return {.index = question.candidates[random.Below(question.candidates.size())]};
}

class ReplicaPolicy {
 public:
  virtual ~ReplicaPolicy() = default;

  virtual ReplicaChoice Choose(const ReplicaQuestion& question) = 0;

  // Outcomes of choices with a record. The server answered with its load; `status` shows whether it
  // did its work.
  virtual void Answered(uint64_t record, uint32_t load_index, Duration run_time,
                        const Status& status) {}
  // There was no answer. `failed`: as far as known, that is the server's fault.
  virtual void Lost(uint64_t record, bool failed) {}
  // A probe that the policy sent with this cookie was answered.
  virtual void OnReport(uint64_t cookie, const LoadReport& report) {}
  virtual void SetView(const YellowPageView& view) {}
};

// Makes the instance of a loop.
using MakeReplicaPolicy = std::function<std::unique_ptr<ReplicaPolicy>(Loop& loop)>;

}  // namespace neptune
