// Admission control: starts requests only as fast as the servers they need can serve them. The
// others wait here, in the queue of their class, or are refused.
//
//   Admit ─► queue of the class ─► scheduler, while below the limit ─► Pass ─► work ─► Pass::End
//                │ full, or too late to be useful                                        │
//                └─► kResourceExhausted, at once         ConcurrencyLimit ◄── outcome ───┘
//
// A request that needs several servers loses all work done for it when one of them refuses it. It
// is therefore admitted where it begins: one queue, one order by class, and short queues at the
// servers.
//
// Source: [Shen02] 4.4 (class queues); concurrency_limit.h.
// Threads: Admit runs on user-level threads of any loop, End on any loop; the rest on any thread.
// Errors: Admit: kResourceExhausted the queue of the class is full, or the request would finish too
//   late to yield anything; kDeadlineExceeded its deadline passed in the queue; kCancelled the node
//   stops.
// Limits: those of the classes. A Pass that is destroyed without End counts as a success.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/concurrency_limit.h"
#include "neptune/scheduling/scheduler_options.h"

namespace neptune {

class ClassScheduler;

struct AdmissionOptions {
  SchedulerOptions scheduling = {};
  ConcurrencyLimitOptions limit = {};
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
    Pass(AdmissionGate* gate, ClassNumber service_class, TimePoint begun)
        : gate_(gate), service_class_(service_class), begun_(begun) {}

    AdmissionGate* gate_ = nullptr;  // null: ended
    ClassNumber service_class_ = 0;
    TimePoint begun_;
  };

  // Parks until the request may begin. Its yield is computed from `arrived`.
  StatusOr<Pass> Admit(ClassNumber service_class, TimePoint arrived, TimePoint deadline);

  size_t limit() const;
  size_t under_way() const;
  size_t waiting() const;

 private:
  struct Waiter;

  void End(ClassNumber service_class, const RequestEnd& end);
  // Admits waiting requests while there is room, and wakes those that the scheduler dropped.
  void LetIn(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AdmissionOptions options_;
  mutable LeafMutex mutex_;
  ConcurrencyLimit limit_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<ClassScheduler> scheduler_ ABSL_PT_GUARDED_BY(mutex_);
  ClassThreads threads_ ABSL_GUARDED_BY(mutex_);  // one per request in progress
  std::unordered_map<uint64_t, Waiter*> waiters_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace neptune
