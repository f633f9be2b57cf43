// The local operators of one task: one for each of the node's own partitions, queued and run by the
// service's host like any request.
//
//   Start ─► ServiceHost::Dispatch, a request for some of the partitions ─► HandleReply ─► Reductions
//
// Short operators share requests, as many as there are worker loops to run them, because handing a
// request over costs about as much as they do; others have a request each, so that they run beside
// each other. Results come back as the operators made them, not as bytes.
//
// Source: [Chu03] 4.3, figure 11 (state A).
// Threads: the aggregation's loop; operators run on the host's threads.
// Errors: the partition of an operator that fails is missing, with its status as the reason.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_environment.h"
#include "neptune/dac/node_task.h"
#include "neptune/dac/reductions.h"
#include "neptune/service/partition_batch.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

class LocalOperators final : public ReplyTaker {
 public:
  // The references outlive this object.
  LocalOperators(AggregationEnvironment& environment, const NodeTask& task, NodeLoop& loop,
                 TaskWork& work, Reductions& results);
  ~LocalOperators() override;

  // Dispatches all operators. `owner` contains this object. REQUIRES: the progress expects one
  // source for each own partition.
  void Start(const std::shared_ptr<void>& owner);
  // Settles the operators that have ended although the request that they share has not; true if
  // there are any. The caller must call Advance then.
  bool SettleFinished();
  // Cancels the operators that have not ended.
  void Cancel();
  // Releases threads that wait in the reduction place.
  void Close();

  bool outstanding() const { return settled_count_ < settled_.size(); }
  // Longest time that an operator was queued.
  Duration queue_time() const { return queue_time_; }
  // From the arrival of the task until the last operator so far ended.
  Duration end() const { return end_; }
  // Partitions whose operator was cut short by the service's time limit.
  const std::vector<PartitionId>& ended_early() const { return ended_early_; }

 private:
  class LocalCall;

  // Operators that share a request.
  struct Shared {
    size_t first = 0;  // index into task_.own
    std::shared_ptr<PartitionBatch> batch;
    bool is_answered = false;
  };

  size_t RequestCount() const;
  void Dispatch(size_t number);
  bool SettleFinished(Shared& shared);
  void Settle(size_t index, PartitionBatch::Outcome outcome);
  void HandleReply(uint64_t index, const ResponseHeader& header, std::string&& payload) override;

  AggregationEnvironment& environment_;
  const NodeTask& task_;
  NodeLoop& loop_;
  TaskWork& work_;
  Reductions& results_;
  std::weak_ptr<void> owner_;
  std::shared_ptr<LocalCall> call_;  // null before Start
  std::vector<Shared> requests_;
  std::vector<bool> settled_;  // by index of task_.own
  size_t settled_count_ = 0;
  Duration queue_time_{0};
  Duration end_{0};
  std::vector<PartitionId> ended_early_;
};

}  // namespace neptune
