// The pool of a service: starts queued requests and events on the worker loops as threads of the
// pool become free.
//
//   Enqueue, RunEvent ─► PoolQueue ─► a free thread of the pool ─► WorkerQueue ─► runner
//
// Requests of one service class form a group of long computations (long_work.h); a class that has
// had less than its guaranteed share is owed turns.
//
// A request that waits in a capsule gives its thread of the pool to another one meanwhile; see
// neptune/capsule/main_pool.h.
//
// Source: [Shen02] 2.2 (worker pool); [Chu05] IV.A (main pool).
// Departs from source: workers are user-level threads; a thread of the pool is a slot among the
//   requests that run at once.
// Threads: any loop.
// Errors: as answers: kResourceExhausted the queue of the class is full, or too long for the
//   request to yield anything; kDeadlineExceeded the deadline passed in the queue; kCancelled.

#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "neptune/service/node_loops.h"
#include "neptune/service/pool_queue.h"
#include "neptune/service/request_runner.h"
#include "neptune/service/service_load.h"

namespace neptune {

class RequestPool {
 public:
  struct Parts {
    NodeLoops& loops;
    ServiceLoad& load;
    PoolQueue& queue;
    RequestRunner& runner;
    // Null: requests are not ended early.
    TimeLimit* limit = nullptr;
  };
  // `options` and the parts outlive the pool.
  RequestPool(const ServiceName& service, const SchedulerOptions& options, const Parts& parts)
      : service_(service), options_(options), parts_(parts) {}
  ~RequestPool() { *alive_ = false; }

  // REQUIRES: the request counts in the load.
  void Enqueue(TakenRequest&& taken);
  // See ServiceHost::RunEvent.
  void RunEvent(PoolQueue::Event event);
  // REQUIRES: CheckThreadShares(shares).ok().
  void SetShares(const ThreadShares& shares);

 private:
  class Place;

  static uint64_t NextGroups();
  static TimePoint Now() { return Loop::Current()->Now(); }
  // Gives free threads to waiting work.
  void StartWaiting();
  void StartRequest(TakenRequest taken);
  void StartEvent(PoolQueue::Event event);
  // Frees a thread of the pool, and starts the work that waits for it.
  void Free(std::optional<ClassNumber> service_class);
  // Parks until a request that was outside of the pool has a thread of it again.
  void Return(ClassNumber service_class);
  void RefuseNew(TakenRequest&& taken, ClassScheduler::Entry entry);
  void RefuseLate(TakenRequest&& taken);
  // The error for a request that would wait too long.
  Status TooLate() const;
  void DropCancelled(RequestTicket ticket);

  // The group of a class, unique in the process.
  uint64_t GroupOf(ClassNumber service_class) const { return first_group_ + service_class; }

  const ServiceName service_;
  const SchedulerOptions& options_;
  const Parts parts_;
  const uint64_t first_group_ = NextGroups();
  // False once the pool is destroyed. Shared with callbacks that may outlive it.
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace neptune
