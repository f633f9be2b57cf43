#include "neptune/service/admission_gate.h"

#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

// Lives on the stack of the waiting thread; in waiters_ until it is admitted or dropped.
struct AdmissionGate::Waiter {
  OneShotEvent turn;
  bool admitted = false;  // else dropped
};

namespace {

AdmissionOptions OfOneGate(AdmissionOptions options) {
  options.scheduling.capacity = 1;
  return options;
}

}  // namespace

AdmissionGate::AdmissionGate(const AdmissionOptions& options)
    : options_(OfOneGate(options)),
      limit_(options.limit),
      scheduler_(std::make_unique<ClassScheduler>(options_.scheduling)),
      threads_({.all = options.limit.initial}, options.scheduling.classes.size()) {}

AdmissionGate::~AdmissionGate() = default;

AdmissionGate::Pass& AdmissionGate::Pass::operator=(Pass&& other) noexcept {
  End({});
  gate_ = std::exchange(other.gate_, nullptr);
  service_class_ = other.service_class_;
  begun_ = other.begun_;
  return *this;
}

void AdmissionGate::Pass::End(RequestEnd how) {
  AdmissionGate* const gate = std::exchange(gate_, nullptr);
  if (gate == nullptr) return;
  how.begun = begun_;
  gate->End(service_class_, how);
}

StatusOr<AdmissionGate::Pass> AdmissionGate::Admit(ClassNumber service_class, TimePoint arrived,
                                                   TimePoint deadline) {
  Waiter waiter;
  const TimePoint now = this_thread::Now();
  RequestTicket ticket = 0;
  {
    LeafLock lock(&mutex_);
    ticket = next_ticket_++;
    const auto entry = scheduler_->Push({ticket, arrived, deadline, service_class});
    if (entry == ClassScheduler::Entry::kWaitTooLong) {
      return ResourceExhausted("too many requests are queued: this one would finish too late");
    }
    if (entry == ClassScheduler::Entry::kQueueFull) {
      return ResourceExhausted("the queue of class ",
                               options_.scheduling.classes[service_class].name, " is full");
    }
    waiters_.emplace(ticket, &waiter);
    LetIn(now);
  }
  const ParkResult parked = waiter.turn.Wait(deadline);
  LeafLock lock(&mutex_);
  if (waiters_.erase(ticket) > 0) {
    scheduler_->Remove(ticket);
    if (parked == ParkResult::kStopping) return Cancelled("the node stops");
    return DeadlineExceeded("the deadline passed while the request was queued");
  }
  if (waiter.admitted) return Pass(this, service_class, this_thread::Now());
  return ResourceExhausted("too many requests are queued: this one would finish too late");
}

void AdmissionGate::LetIn(TimePoint now) {
  while (threads_.HasFree()) {
    const ClassScheduler::Picked picked = scheduler_->Pick(now, threads_);
    const auto settle = [&](const WaitingRequest& request, bool admitted)
                            ABSL_NO_THREAD_SAFETY_ANALYSIS {
                              const auto found = waiters_.find(request.ticket);
                              found->second->admitted = admitted;
                              found->second->turn.Set();
                              waiters_.erase(found);
                            };
    for (const WaitingRequest& late : picked.dropped) settle(late, false);
    if (!picked.next) return;
    threads_.Take(picked.next->service_class);
    settle(*picked.next, true);
  }
}

void AdmissionGate::End(ClassNumber service_class, const RequestEnd& end) {
  const TimePoint now = Loop::Current()->Now();
  LeafLock lock(&mutex_);
  limit_.OnEnd(end, threads_.busy(), now);
  threads_.Free(service_class);
  threads_.SetShares({.all = limit_.limit()});
  // The gate has one second of capacity per second, shared by limit() requests at a time; a request
  // consumes its run time divided by that limit.
  const Duration time = now - end.begun;
  scheduler_->OnServed(service_class, time / static_cast<int64_t>(limit_.limit()), time, now);
  LetIn(now);
}

size_t AdmissionGate::limit() const {
  LeafLock lock(&mutex_);
  return limit_.limit();
}
size_t AdmissionGate::under_way() const {
  LeafLock lock(&mutex_);
  return threads_.busy();
}
size_t AdmissionGate::waiting() const {
  LeafLock lock(&mutex_);
  return scheduler_->length();
}

}  // namespace neptune
