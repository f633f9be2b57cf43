#include "neptune/service/admission_gate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/scheduling/admission_queue.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"

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

Status TooLate() {
  return ResourceExhausted("too many requests are queued: this one would finish too late");
}

bool IsGone(const IncomingCall* call) { return call != nullptr && call->cancelled(); }

}  // namespace

AdmissionGate::AdmissionGate(const AdmissionOptions& options)
    : options_(OfOneGate(options)),
      limit_(options.limit),
      queue_(std::make_unique<AdmissionQueue>(
          AdmissionQueue::Options{options_.scheduling, options_.waiting_count_max})),
      threads_({.all = options.limit.initial}, options.scheduling.classes.size()) {}

AdmissionGate::~AdmissionGate() = default;

AdmissionGate::Pass& AdmissionGate::Pass::operator=(Pass&& other) noexcept {
  End({});
  gate_ = std::exchange(other.gate_, nullptr);
  service_class_ = other.service_class_;
  call_ = other.call_;
  begun_ = other.begun_;
  return *this;
}

void AdmissionGate::Pass::End(RequestEnd how) {
  AdmissionGate* const gate = std::exchange(gate_, nullptr);
  if (gate == nullptr) return;
  how.begun = begun_;
  gate->End(service_class_, how, IsGone(call_));
}

Status AdmissionGate::Enter(const AdmissionOrder& order, RequestTicket* ticket, Waiter* waiter) {
  const TimePoint now = this_thread::Now();
  LeafLock lock(&mutex_);
  *ticket = next_ticket_++;
  const AdmissionQueue::Pushed pushed = queue_->Push({.ticket = *ticket,
                                                      .service_class = order.service_class,
                                                      .arrived = order.arrived,
                                                      .begin_by = order.begin_by,
                                                      .deadline = order.deadline,
                                                      .client = order.client},
                                                     now);
  if (pushed.displaced) Settle(*pushed.displaced, /*admitted=*/false);
  if (pushed.entry == AdmissionQueue::Entry::kWaitTooLong) return TooLate();
  if (pushed.entry == AdmissionQueue::Entry::kQueueFull) {
    return ResourceExhausted("the queue of class ",
                             options_.scheduling.classes[order.service_class].name, " is full");
  }
  waiters_.emplace(*ticket, waiter);
  LetIn(now);
  return OkStatus();
}

std::optional<Status> AdmissionGate::Leave(const AdmissionOrder& order, RequestTicket ticket,
                                           bool is_stopping) {
  const bool is_gone = IsGone(order.call);
  LeafLock lock(&mutex_);
  if (waiters_.erase(ticket) == 0) return std::nullopt;
  queue_->Remove(ticket);
  if (is_gone) queue_->NoteGone(order.service_class, this_thread::Now());
  if (is_stopping) return Cancelled("the node stops");
  if (is_gone) return Cancelled("the client left while its request was queued");
  return DeadlineExceeded("the deadline passed while the request was queued");
}

StatusOr<AdmissionGate::Pass> AdmissionGate::Admit(const AdmissionOrder& order) {
  if (IsGone(order.call)) return Cancelled("the client left before its request was queued");
  Waiter waiter;
  RequestTicket ticket = 0;
  NEPTUNE_RETURN_IF_ERROR(Enter(order, &ticket, &waiter));
  ParkResult parked = ParkResult::kWoken;
  if (!waiter.turn.is_set()) {
    const CancelAction wake(order.call,
                            [self = ThreadRef(UserThread::Current())] { self->Wake(); });
    const TimePoint until = std::min(order.begin_by, order.deadline);
    while (!waiter.turn.is_set() && !IsGone(order.call) && parked == ParkResult::kWoken) {
      parked = this_thread::Park(until);
    }
  }
  if (const auto why = Leave(order, ticket, parked == ParkResult::kStopping)) return *why;
  if (waiter.admitted) return Pass(this, order, this_thread::Now());
  return TooLate();
}

void AdmissionGate::Settle(RequestTicket ticket, bool admitted) {
  const auto found = waiters_.find(ticket);
  found->second->admitted = admitted;
  found->second->turn.Set();
  waiters_.erase(found);
}

void AdmissionGate::LetIn(TimePoint now) {
  while (threads_.HasFree()) {
    const AdmissionQueue::Picked picked = queue_->Pick(now, threads_);
    for (const WaitingRequest& late : picked.dropped) Settle(late.ticket, /*admitted=*/false);
    if (!picked.next) return;
    threads_.Take(picked.next->service_class);
    Settle(picked.next->ticket, /*admitted=*/true);
  }
}

void AdmissionGate::End(ClassNumber service_class, const RequestEnd& end, bool is_gone) {
  const TimePoint now = Loop::Current()->Now();
  LeafLock lock(&mutex_);
  limit_.OnEnd(end, threads_.busy(), now);
  threads_.Free(service_class);
  threads_.SetShares({.all = limit_.limit()});
  // The gate has one second of capacity per second, shared by limit() requests at a time; a request
  // consumes its run time divided by that limit.
  const Duration time = now - end.begun;
  if (is_gone) queue_->NoteGone(service_class, now);
  queue_->OnServed(service_class, time / static_cast<int64_t>(limit_.limit()), time, now);
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
  return queue_->length();
}

}  // namespace neptune
