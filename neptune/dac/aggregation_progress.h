// State machine of one aggregation on one node: outstanding sources, the next reduction,
// completion.
//
//                      own local operators and children (sources)
//                            │ Settle, in any order
//                            ▼
//    A local ──────► B waiting for children ──────► C ready to be sent up
//                            │    ▲                     ▲
//              NextReduction ▼    │ Reduced             │ every source settled and one result left,
//                        a reduction at a time ─────────┘ or expired
//
// No state holds a thread: Aggregation reports events and asks for the next action.
//
// Source: [Chu03] 4.3, figure 11 (states A, B and C).
// Departs from source: local results and those of children are sources alike; results that expire
//   before they are reduced are reported.
// No I/O, no clock, no threads; Aggregation drives it.
// Threads: thread-compatible.
// Errors: the first error of a reduction is kept, and ends the aggregation.

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/service/data.h"

namespace neptune {

class AggregationProgress {
 public:
  enum class Phase { kLocal, kWaiting, kReady };

  // Adds a source that will settle: an own partition if `local`, else a child.
  void Expect(bool local);
  // Ends a source, with a result and its contributors, or without a result. Has no effect after
  // Expire or after an error of the operator.
  void Settle(bool local, std::optional<Data> result, std::vector<PartitionId> contributing);
  // Adds partitions that will not contribute.
  void Miss(std::vector<MissingPartition> missing);

  struct Reduction {
    Data first;
    Data second;
  };
  // Returns the next two results to combine; the caller then calls Reduced. nullopt while there are
  // not two results, or while a reduction is in progress.
  std::optional<Reduction> NextReduction();
  void Reduced(StatusOr<Data> combined);
  // Reports an error of the operator on a server below.
  void Fail(const Status& error);

  // Stops waiting for sources. Among results not yet combined, keeps the one with the most
  // contributors.
  void Expire();

  Phase phase() const;
  // True if every source has settled, or the aggregation expired or failed, and no reduction is in
  // progress.
  bool done() const { return phase() == Phase::kReady; }
  bool closed() const { return expired_ || !reduce_error_.ok(); }
  size_t reduction_count() const { return reduction_count_; }
  size_t missing_count() const { return missing_.size(); }

  struct Outcome {
    Status reduce_error;
    std::vector<PartitionId> contributing;
    std::vector<MissingPartition> missing;
    std::optional<Data> result;  // unset: no partition contributed, or the operator failed
  };
  // REQUIRES: done(); called at most once.
  Outcome ReleaseOutcome();

 private:
  struct Partial {
    Data result;
    std::vector<PartitionId> contributing;
  };
  void KeepLargest();

  size_t locals_outstanding_ = 0;
  size_t children_outstanding_ = 0;
  std::deque<Partial> ready_;
  // Contributors to the reduction in progress.
  std::optional<std::vector<PartitionId>> reducing_;
  std::vector<MissingPartition> missing_;
  Status reduce_error_;
  bool expired_ = false;
  size_t reduction_count_ = 0;
};

}  // namespace neptune
