// Serves tasks of reduction trees on a node: each becomes an Aggregation, whose answer goes to whoever asks for it.
//
//   task over a connection ──────────────► Aggregation ──► answer
//   datagram to all members ─► Prepare ─► Aggregation ──┐
//   reference over a connection ─► attached to it ──────┴─► answer        unknown: "send me the task"
//
// So the tree that answers go up is the acknowledgement tree of the datagram: each parent asks its children, and
// one that has not heard of its task is sent it. A datagram that comes twice, or after the task, is dropped.
//
// Source: [Chu03] 4.3, 4.5 (3).
// Threads: AddLoop, Take, Prepare and StopLoop on a loop of the node, with that loop's state; the rest from any
//   thread.
// Errors, as answers: kDataLoss, kInvalidArgument a malformed task; kNotFound an unknown reduce operator;
//   kFailedPrecondition a reference to an unknown task; kResourceExhausted over the limit; kDeadlineExceeded.
// Limits: serving_count_max tasks, prepared ones among them.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "neptune/base/leaf_mutex.h"
#include "neptune/dac/aggregation.h"
#include "neptune/service/service_host.h"

namespace neptune {

class TaskServer {
 public:
  // The host of a service on this node; null if it is not here, or not ready.
  using FindHost = std::function<ServiceHost*(const ServiceName&)>;

  TaskServer(Aggregation::Environment& environment, size_t serving_count_max, FindHost find_host);
  // REQUIRES: the node's loops no longer run.
  ~TaskServer();

  // Before the first task of the current loop.
  void AddLoop();
  // A request of kAggregateMethod: a task, or a reference to one.
  void Take(IncomingRequest&& request, ServiceHost& host);
  // A datagram that tells of a whole tree. What is not for this node, or came before, is dropped.
  void Prepare(std::string_view bytes);
  // Ends the tasks that the current loop serves; their callers are told that the node stops.
  void StopLoop();

  size_t serving_count() const { return serving_count_.load(std::memory_order_relaxed); }

 private:
  struct Served;
  struct LoopState;
  struct Asked {  // what a task says besides its plan and members
    ServiceName service;
    std::string service_class;
    TraceContext trace;
    TimePoint received;
    TimePoint deadline;
    bool retried = false;
    std::chrono::microseconds waited{0};  // told by the request, not by the datagram before it
  };
  struct Place {
    Loop* home = nullptr;
    uint64_t number = 0;
  };

  LoopState& State();
  Status Serve(IncomingRequest& request, ServiceHost& host, AggregationTask task);
  StatusOr<uint64_t> Begin(LoopState& state, Asked asked, ServiceHost& host, AggregationTask task);
  void End(LoopState& state, uint64_t number, Aggregation::End end);
  void Attach(LoopState& state, uint64_t number, IncomingRequest request);
  void Refer(IncomingRequest&& request, uint64_t dissemination);
  // Where the task of that number is served; nullopt: nowhere.
  std::optional<Place> Find(uint64_t dissemination);
  void Forget(LoopState& state, uint64_t number);
  void ScheduleAccepting(LoopState& state, TimePoint when);
  void Answer(Reply reply, Aggregation::End end);
  void Refuse(Reply& reply, const Status& status);

  Aggregation::Environment& environment_;
  const size_t serving_count_max_;
  const FindHost find_host_;
  LeafMutex states_mutex_;
  std::map<Loop*, std::unique_ptr<LoopState>> states_ ABSL_GUARDED_BY(states_mutex_);
  LeafMutex disseminated_mutex_;
  std::unordered_map<uint64_t, Place> disseminated_ ABSL_GUARDED_BY(disseminated_mutex_);
  std::atomic<size_t> serving_count_{0};
};

}  // namespace neptune
