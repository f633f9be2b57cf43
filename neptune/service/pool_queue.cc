#include "neptune/service/pool_queue.h"

#include <algorithm>
#include <utility>

namespace neptune {

PoolQueue::Pushed PoolQueue::Push(TakenRequest&& taken, Clock clock) {
  const ClassNumber service_class = taken.service_class;
  LeafLock lock(&mutex_);
  Pushed pushed{.ticket = next_ticket_++};
  pushed.entry = scheduler_.Push(
      {pushed.ticket, taken.request.received, taken.request.deadline, service_class});
  if (pushed.entry != ClassScheduler::Entry::kTaken) return pushed;
  waiting_.emplace(pushed.ticket, std::move(taken));
  UpdateOldestWaiting();
  ++waiting_count_;
  if (!threads_.HasFree(service_class) && !progress_.is_starving()) progress_.OnStarving(clock());
  return pushed;
}

void PoolQueue::PushEvent(Event event) {
  LeafLock lock(&mutex_);
  events_.push_back(std::move(event));
}

std::optional<TakenRequest> PoolQueue::Remove(RequestTicket ticket) {
  LeafLock lock(&mutex_);
  if (!scheduler_.Remove(ticket)) return std::nullopt;
  UpdateOldestWaiting();
  return Take(ticket);
}

TakenRequest PoolQueue::Take(RequestTicket ticket) {
  --waiting_count_;
  return std::move(waiting_.extract(ticket).mapped());
}

PoolQueue::Turn PoolQueue::NextTurn(Clock clock) {
  Turn turn;
  LeafLock lock(&mutex_);
  if (!threads_.HasFree()) return turn;
  if (PopReturning(&turn, clock)) return turn;
  if (!events_.empty()) {
    turn.event = std::move(events_.front());
    events_.pop_front();
    AcquireThread(std::nullopt, clock);
  } else {
    PickRequest(&turn, clock);
  }
  if (waiting_.empty()) progress_.OnNoneWaits();
  return turn;
}

bool PoolQueue::PopReturning(Turn* turn, Clock clock) {
  auto first = returning_.begin();
  while (first != returning_.end() && !threads_.HasFree(first->service_class)) ++first;
  if (first == returning_.end()) return false;
  AcquireThread(first->service_class, clock);
  turn->returning = first->turn;
  returning_.erase(first);
  return true;
}

void PoolQueue::PickRequest(Turn* turn, Clock clock) {
  const ClassScheduler::Picked picked = scheduler_.Pick(clock(), threads_);
  for (const WaitingRequest& late : picked.dropped) turn->dropped.push_back(Take(late.ticket));
  if (picked.next) {
    turn->next = Take(picked.next->ticket);
    AcquireThread(picked.next->service_class, clock);
    if (limit_ != nullptr) handed_over_.push_back(picked.next->arrived);
  }
  UpdateOldestWaiting();
}

void PoolQueue::OnBegun(TimePoint received) {
  LeafLock lock(&mutex_);
  const auto found = std::find(handed_over_.begin(), handed_over_.end(), received);
  if (found != handed_over_.end()) handed_over_.erase(found);
  UpdateOldestWaiting();
}

// Includes handed_over_, because requests may wait for a busy worker loop while the queue is empty.
void PoolQueue::UpdateOldestWaiting() {
  if (limit_ == nullptr) return;
  TimePoint oldest = scheduler_.OldestArrival();
  for (const TimePoint received : handed_over_) oldest = std::min(oldest, received);
  limit_->SetOldestWaiting(oldest);
}

void PoolQueue::OnServed(ClassNumber service_class, Duration consumed, Duration served_for,
                         TimePoint now) {
  LeafLock lock(&mutex_);
  scheduler_.OnServed(service_class, consumed, served_for, now);
}

void PoolQueue::AcquireThread(std::optional<ClassNumber> service_class, Clock clock) {
  if (service_class) {
    threads_.Take(*service_class);
  } else {
    threads_.Take();
  }
  if (!threads_.HasFree()) progress_.OnAllThreadsTaken(clock());
}

bool PoolQueue::Free(std::optional<ClassNumber> service_class, Clock clock) {
  LeafLock lock(&mutex_);
  if (service_class) {
    threads_.Free(*service_class);
  } else {
    threads_.Free();
  }
  if (waiting_.empty()) {
    progress_.OnNoneWaits();
  } else {
    progress_.OnFreedForOthers(clock());
  }
  progress_.OnThreadFree();
  return !waiting_.empty() || !events_.empty() || !returning_.empty();
}

bool PoolQueue::Return(ClassNumber service_class, OneShotEvent* turn, Clock clock) {
  LeafLock lock(&mutex_);
  if (threads_.HasFree(service_class)) {
    AcquireThread(service_class, clock);
    return true;
  }
  returning_.push_back({service_class, turn});
  return false;
}

void PoolQueue::SetShares(const ThreadShares& shares) {
  LeafLock lock(&mutex_);
  threads_.SetShares(shares);
  if (threads_.HasFree()) progress_.OnThreadFree();
}

ThreadShares PoolQueue::shares() const {
  LeafLock lock(&mutex_);
  return threads_.shares();
}

std::vector<PoolQueue::ClassLoad> PoolQueue::Classes() const {
  std::vector<ClassLoad> loads;
  LeafLock lock(&mutex_);
  for (ClassNumber number = 0; number < scheduler_.class_count(); ++number) {
    loads.push_back({.own_threads = threads_.own_of(number),
                     .busy_count = threads_.busy_of(number),
                     .waiting_count = scheduler_.length_of(number),
                     .share = scheduler_.ShareOf(number)});
  }
  return loads;
}

double PoolQueue::ShareOf(ClassNumber number) const {
  LeafLock lock(&mutex_);
  return scheduler_.ShareOf(number);
}

}  // namespace neptune
