// Admission control: starts requests only as fast as the servers they need can serve them. The
// others wait here, in the queue of their class, or are refused.
//
//   Admit ─► queue of the class ─► scheduler, while below the limit ─► Pass ─► work ─► Pass::End
//                │ too late to be useful      │ client gone, time over                    │
//                └─► kResourceExhausted, at once          ConcurrencyLimit ◄── outcome ───┘
//
// A request that needs several servers loses all work done for it when one of them refuses it. It
// is therefore admitted where it begins: one queue, one order by class, and short queues at the
// servers. The queue is bounded by time and fair between clients, see admission_queue.h.
//
// Source: [Shen02] 4.4 (class queues); concurrency_limit.h.
// Threads: Admit runs on user-level threads of any loop, End on any loop; the rest on any thread.
// Errors: Admit: kResourceExhausted the request would begin, or finish, too late to be useful, or
//   too many wait; kDeadlineExceeded its time passed in the queue; kCancelled its client is gone,
//   or the node stops.
// Limits: AdmissionOptions::waiting_count_max. A Pass that is destroyed without End counts as a
//   success.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/concurrency_limit.h"
#include "neptune/scheduling/scheduler_options.h"

namespace neptune {

class AdmissionQueue;
class IncomingCall;
// Identifies a waiting request.
using RequestTicket = uint64_t;

struct AdmissionOptions {
  // queue_length_max of the classes is not used: waits are bounded by time.
  SchedulerOptions scheduling = {};
  ConcurrencyLimitOptions limit = {};
  // Maximum number of waiting requests of a class. Larger: a flood takes more memory, a parked
  // thread for each. Default: 4,096, more than begin within a second.
  size_t waiting_count_max = 4096;
};

// What asks to be admitted.
struct AdmissionOrder {
  ClassNumber service_class = 0;
  // Its yield is computed from here.
  TimePoint arrived;
  // The latest time at which it may begin.
  TimePoint begin_by = kNever;
  // When its answer must be there; it begins no later than the mean service time before.
  TimePoint deadline = kNever;
  // The client, as a number: those of a class take turns. 0: unknown, a client like others.
  uint64_t client = 0;
  // Its cancellation ends the wait; null: nothing does. Outlives Admit and the Pass.
  IncomingCall* call = nullptr;
};

class AdmissionGate {
 public:
  explicit AdmissionGate(const AdmissionOptions& options);
  ~AdmissionGate();

  // A request in progress. Its destruction ends it, if End was not called.
  class Pass {
   public:
    Pass(Pass&& other) noexcept { *this = std::move(other); }
    Pass& operator=(Pass&& other) noexcept;
    ~Pass() { End({}); }

    // Ends the request with its outcome at the servers; `how.begun` is filled in here.
    void End(RequestEnd how);

   private:
    friend class AdmissionGate;
    Pass(AdmissionGate* gate, const AdmissionOrder& order, TimePoint begun)
        : gate_(gate), service_class_(order.service_class), call_(order.call), begun_(begun) {}

    AdmissionGate* gate_ = nullptr;  // null: ended
    ClassNumber service_class_ = 0;
    IncomingCall* call_ = nullptr;
    TimePoint begun_;
  };

  // Parks until the request may begin.
  StatusOr<Pass> Admit(const AdmissionOrder& order);

  size_t limit() const;
  size_t under_way() const;
  size_t waiting() const;

 private:
  struct Waiter;

  // `is_gone`: the client has left meanwhile.
  void End(ClassNumber service_class, const RequestEnd& end, bool is_gone);
  // Puts the request into the queue; OK: it waits, or was admitted at once.
  Status Enter(const AdmissionOrder& order, RequestTicket* ticket, Waiter* waiter);
  // Ends the wait of a request that still waits, and says why; nullopt: it waits no more.
  std::optional<Status> Leave(const AdmissionOrder& order, RequestTicket ticket, bool is_stopping);
  // Admits waiting requests while there is room, and wakes those that the scheduler dropped.
  void LetIn(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Wakes a waiting request.
  void Settle(RequestTicket ticket, bool admitted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AdmissionOptions options_;
  mutable LeafMutex mutex_;
  ConcurrencyLimit limit_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<AdmissionQueue> queue_ ABSL_PT_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);  // one per request in progress
  std::unordered_map<RequestTicket, Waiter*> waiters_ ABSL_GUARDED_BY(mutex_);
  RequestTicket next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace neptune
