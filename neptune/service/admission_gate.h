// Lets requests begin only as fast as what they need can serve them; the others wait here, by class, or are refused.
//
//   Admit ─► queue of its class ─► scheduler, while fewer are under way than the limit ─► Pass ─► the work ─► Pass::End
//                │ full, or of no use any more                                                      │
//                └─► kResourceExhausted, at once                          ConcurrencyLimit ◄────────┘ how it went
//
// A request that needs several servers loses all that was done for it when one of them refuses it. Where it begins is the
// place to decide: one queue, one order by class, and servers whose queues stay short.
//
// Source: [Shen02] 4.4 (class queues); concurrency_limit.h.
// Threads: Admit on user-level threads of any loop, End on any loop; the rest from any thread.
// Errors of Admit: kResourceExhausted the queue of the class is full, or the request would yield nothing; kDeadlineExceeded
//   its deadline passed here; kCancelled the node stops.
// Limits: those of the classes; a Pass that is dropped without End counts as ended well.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/scheduling/concurrency_limit.h"

namespace neptune {

struct AdmissionOptions {
  SchedulerOptions scheduling = {};
  ConcurrencyLimitOptions limit = {};
};

class AdmissionGate {
 public:
  explicit AdmissionGate(const AdmissionOptions& options);

  // A request under way. Ends at the latest when it is destroyed.
  class Pass {
   public:
    Pass(Pass&& other) noexcept { *this = std::move(other); }
    Pass& operator=(Pass&& other) noexcept;
    ~Pass() { End({}); }

    // How it went at the servers; `begun` is known.
    void End(RequestEnd how);

   private:
    friend class AdmissionGate;
    Pass(AdmissionGate* gate, ClassNumber service_class, TimePoint begun)
        : gate_(gate), service_class_(service_class), begun_(begun) {}

    AdmissionGate* gate_ = nullptr;  // null: ended
    ClassNumber service_class_ = 0;
    TimePoint begun_;
  };

  // Parks until the request may begin. `arrived` counts for what it yields.
  StatusOr<Pass> Admit(ClassNumber service_class, TimePoint arrived, TimePoint deadline);

  size_t limit() const;
  size_t under_way() const;
  size_t waiting() const;

 private:
  struct Waiter;

  void End(ClassNumber service_class, const RequestEnd& end);
  // Lets in what there is room for, and tells those that were dropped.
  void LetIn(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AdmissionOptions options_;
  mutable LeafMutex mutex_;
  ConcurrencyLimit limit_ ABSL_GUARDED_BY(mutex_);
  ClassScheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);  // one for each request under way
  std::unordered_map<RequestTicket, Waiter*> waiters_ ABSL_GUARDED_BY(mutex_);
  RequestTicket next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace neptune
