// The work that waits for the pool of a service, and the threads of the pool.
//
//   requests ─► class queues ─┐
//   events ───────────────────┤  NextTurn: what a free thread does next, in this order:
//   requests that were ───────┘  returning requests, events, requests by the scheduling policy
//   outside of the pool
//
// A thread of the pool is a slot among the requests that run at once. Returning requests and events
// go first because they complete work already begun.
//
// Source: [Shen02] 2.2 (request queue, worker pool), 4.4 (class queues); [Chu05] IV.A (return to
//   the main pool).
// No I/O, no threads; the clock is read only where a time is needed.
// Threads: thread-safe.
// Limits: those of ClassScheduler and ThreadShares. Events are unbounded; their owners bound them.

#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/taken_request.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

// Progress of a pool: since when its work starves, and since when all of its threads are taken.
//
// Threads: written under the queue's lock, read by any thread.
class PoolProgress {
 public:
  // A request waits and has no thread. Keeps the time of an earlier one.
  void OnStarving(TimePoint now) {
    if (starving_since_ns_ == kNoneStarves) starving_since_ns_ = NsOf(now);
  }
  bool is_starving() const { return starving_since_ns_ != kNoneStarves; }
  void OnNoneWaits() { starving_since_ns_ = kNoneStarves; }
  // A thread was freed while requests wait.
  void OnFreedForOthers(TimePoint now) { starving_since_ns_ = NsOf(now); }
  void OnAllThreadsTaken(TimePoint now) { all_taken_since_ns_ = NsOf(now); }
  void OnThreadFree() { all_taken_since_ns_ = kThreadsFree; }

  // Time since which requests wait and no thread was freed; zero: none waits. A caller that gives
  // up does not count as progress.
  Duration StarvingFor(TimePoint now) const {
    const int64_t since = starving_since_ns_;
    return since == kNoneStarves ? Duration(0) : Duration(NsOf(now) - since);
  }
  // Time since every thread is taken and none was freed; zero while one is free.
  Duration Silence(TimePoint now) const {
    const int64_t since = all_taken_since_ns_;
    return since == kThreadsFree ? Duration(0) : Duration(NsOf(now) - since);
  }

 private:
  static constexpr int64_t kNoneStarves = 0;
  static constexpr int64_t kThreadsFree = -1;
  static int64_t NsOf(TimePoint time) { return time.time_since_epoch().count(); }

  std::atomic<int64_t> starving_since_ns_{kNoneStarves};
  std::atomic<int64_t> all_taken_since_ns_{kThreadsFree};
};

class PoolQueue {
 public:
  // Called with OK on a user-level thread, or with the error on the loop if none could be started.
  using Event = absl::AnyInvocable<void(const Status&)>;
  using Clock = absl::FunctionRef<TimePoint()>;

  // `limit` learns how long the oldest request has waited; may be null.
  // REQUIRES: the options and the shares are valid.
  PoolQueue(const SchedulerOptions& options, const ThreadShares& shares, TimeLimit* limit)
      : limit_(limit), scheduler_(options), threads_(shares, options.classes.size()) {}

  struct Pushed {
    ClassScheduler::Entry entry = ClassScheduler::Entry::kTaken;
    RequestTicket ticket = 0;
  };
  // Moves from `taken` only if the entry is kTaken.
  Pushed Push(TakenRequest&& taken, Clock clock);
  void PushEvent(Event event);
  // Removes a request whose caller is gone; nullopt: it no longer waits.
  std::optional<TakenRequest> Remove(RequestTicket ticket);

  // At most one of `returning`, `event` and `next` is set, and has a thread of the pool.
  struct Turn {
    OneShotEvent* returning = nullptr;
    Event event;
    std::optional<TakenRequest> next;
    // Requests that came too late; to be refused.
    std::vector<TakenRequest> dropped;
  };
  Turn NextTurn(Clock clock);
  // A request from NextTurn begins to run or was refused.
  void OnBegun(TimePoint received);
  // Reports the consumption of a request that has run.
  void OnServed(ClassNumber service_class, Duration consumed, Duration served_for, TimePoint now);

  // Frees the thread of a request of the class; nullopt: of an event. Returns true if work waits.
  bool Free(std::optional<ClassNumber> service_class, Clock clock);
  // Takes a thread for a request that was outside of the pool. False: none is free; `turn` is then
  // set when the request has one.
  bool Return(ClassNumber service_class, OneShotEvent* turn, Clock clock);

  void SetShares(const ThreadShares& shares);
  ThreadShares shares() const;

  struct ClassLoad {
    std::optional<size_t> own_threads;
    size_t busy_count = 0;
    size_t waiting_count = 0;
    double share = 0;  // of the recent consumption of all classes
  };
  std::vector<ClassLoad> Classes() const;
  double ShareOf(ClassNumber number) const;
  uint32_t waiting_count() const { return waiting_count_.load(std::memory_order_relaxed); }
  const PoolProgress& progress() const { return progress_; }

 private:
  // Requests that were outside of the pool and wait to return.
  struct Returning {
    ClassNumber service_class = 0;
    OneShotEvent* turn = nullptr;
  };

  bool PopReturning(Turn* turn, Clock clock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PickRequest(Turn* turn, Clock clock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TakenRequest Take(RequestTicket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AcquireThread(std::optional<ClassNumber> service_class, Clock clock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Called after each change of the queue or of handed_over_.
  void UpdateOldestWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  TimeLimit* const limit_;
  PoolProgress progress_;
  std::atomic<uint32_t> waiting_count_{0};

  mutable LeafMutex mutex_;
  ClassScheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<RequestTicket, TakenRequest> waiting_ ABSL_GUARDED_BY(mutex_);
  RequestTicket next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  std::deque<Returning> returning_ ABSL_GUARDED_BY(mutex_);
  // Arrival times of requests that have a thread of the pool but wait for their busy worker loop;
  // at most one per thread. Used under a time limit only.
  std::vector<TimePoint> handed_over_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
