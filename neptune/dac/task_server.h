// Serves tasks of reduction trees on a node: each becomes an Aggregation, whose answer is sent to
// the parent that requests it.
//
//   task over a connection ──────────────► Aggregation ──► answer
//   datagram to all members ─► Prepare ─► Aggregation ──┐
//   reference over a connection ─► attached to it ──────┴─► answer      unknown: "send me the task"
//
// The tree of answers is therefore the acknowledgement tree of the datagram: each parent requests
// the answers of its children, and a child that did not receive the datagram is sent its task. A
// datagram that arrives twice, or after the task, is dropped.
//
// Source: [Chu03] 4.3, 4.5 (3).
// Threads: AddLoop, Take, Prepare and StopLoop run on a loop of the node, with that loop's state;
//   the rest on any thread.
// Errors: returned as answers: kDataLoss, kInvalidArgument malformed task; kNotFound unknown reduce
//   operator; kFailedPrecondition a reference to an unknown task; kResourceExhausted over the
//   limit; kDeadlineExceeded.
// Limits: serving_count_max tasks, including prepared ones.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "neptune/base/leaf_mutex.h"
#include "neptune/dac/aggregation.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/dac/node_task.h"
#include "neptune/service/service_host.h"

namespace neptune {

class TaskServer {
 public:
  TaskServer(AggregationEnvironment& environment, size_t serving_count_max, FindHost find_host);
  // REQUIRES: the node's loops no longer run.
  ~TaskServer();

  // Must be called before the first task of the current loop.
  void AddLoop();
  // Handles a request of kAggregateMethod: a task, or a reference to one.
  void Take(IncomingRequest&& request, ServiceHost& host);
  // Handles a datagram with a whole tree. Duplicates and trees without this node are dropped.
  void Prepare(std::string_view bytes);
  // Ends the tasks that the current loop serves; their callers receive an error that the node
  // stops.
  void StopLoop();

  size_t serving_count() const { return serving_count_.load(std::memory_order_relaxed); }

 private:
  struct Served;
  struct LoopState;
  struct Place {
    Loop* home = nullptr;
    uint64_t number = 0;
  };

  LoopState& State();
  Status Serve(IncomingRequest& request, ServiceHost& host, AggregationTask task);
  // `own` has what the request states besides `task`, and the host; the rest is added.
  StatusOr<uint64_t> Begin(LoopState& state, NodeTask own, AggregationTask task);
  void End(LoopState& state, uint64_t number, Aggregation::End end);
  void Attach(LoopState& state, uint64_t number, IncomingRequest request);
  void Refer(IncomingRequest&& request, uint64_t dissemination);
  // Returns where the task of that datagram is served; nullopt: not on this node.
  std::optional<Place> Find(uint64_t dissemination);
  void Forget(LoopState& state, uint64_t number);
  void ScheduleAccepting(LoopState& state, TimePoint when);
  void Answer(Reply reply, Aggregation::End end);
  void Refuse(Reply& reply, const Status& status);

  AggregationEnvironment& environment_;
  const size_t serving_count_max_;
  const FindHost find_host_;
  LeafMutex states_mutex_;
  std::map<Loop*, std::unique_ptr<LoopState>> states_ ABSL_GUARDED_BY(states_mutex_);
  LeafMutex disseminated_mutex_;
  std::unordered_map<uint64_t, Place> disseminated_ ABSL_GUARDED_BY(disseminated_mutex_);
  std::atomic<size_t> serving_count_{0};
};

}  // namespace neptune
