// How far one node is with one aggregation: what it waits for, what is to be reduced next, when it is done.
//
//                      own local operators and children (sources)
//                            │ Settle, in any order
//                            ▼
//    A local ──────► B waiting for children ──────► C ready to be sent up
//                            │    ▲                     ▲
//              NextReduction ▼    │ Reduced             │ every source settled and one result left,
//                        a reduction at a time ─────────┘ or expired
//
// No thread is held in any state: the agent calls in when something has happened and asks what to do next.
//
// Source: [Chu03] 4.3, figure 11 (states A, B and C).
// Departs from source: local results and children's are sources alike; what expires unreduced is reported.
// No I/O, no clock, no threads; Aggregation feeds it.
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

  // One more source will settle: an own partition if `local`, else a child.
  void Expect(bool local);
  // A source has ended: with a result and who contributed to it, or without one. After Expire or an error
  // of the operator it changes nothing.
  void Settle(bool local, std::optional<Data> result, std::vector<PartitionId> contributing);
  // Partitions that will not contribute, whoever says so.
  void Miss(std::vector<MissingPartition> missing);

  struct Reduction {
    Data first;
    Data second;
  };
  // The next two results to combine; nullopt while there are none, or one is under way. Reduced follows.
  std::optional<Reduction> NextReduction();
  void Reduced(StatusOr<Data> combined);
  // An error of the operator somewhere below.
  void Fail(const Status& error);

  // Nothing more is waited for. Of the results that are not combined the one with most contributors is kept.
  void Expire();

  Phase phase() const;
  // Every source has settled, or it expired or failed; and no reduction is under way.
  bool done() const { return phase() == Phase::kReady; }
  bool closed() const { return expired_ || !reduce_error_.ok(); }
  size_t reduction_count() const { return reduction_count_; }
  size_t missing_count() const { return missing_.size(); }

  struct Outcome {
    Status reduce_error;
    std::vector<PartitionId> contributing;
    std::vector<MissingPartition> missing;
    std::optional<Data> result;  // absent: nobody contributed, or the operator failed
  };
  // REQUIRES: done(). At most once.
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
  // Contributors to the reduction under way.
  std::optional<std::vector<PartitionId>> reducing_;
  std::vector<MissingPartition> missing_;
  Status reduce_error_;
  bool expired_ = false;
  size_t reduction_count_ = 0;
};

}  // namespace neptune
