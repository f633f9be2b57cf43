// The pool of a service host: queued requests, and the threads that run them.

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/service/compute.h"
#include "neptune/service/service_host.h"

namespace neptune {

void ServiceHost::RunEvent(Event event) {
  {
    LeafLock lock(&mutex_);
    events_.push_back(std::move(event));
  }
  CountLoad(1);
  StartWaiting();
}

void ServiceHost::StartWaiting() {
  while (true) {
    Turn turn = NextTurn();
    for (Taken& late : turn.dropped) {
      CountLoad(-1);
      if (time_limit_) time_limit_->OnLost(Loop::Current()->Now());
      const bool is_late = late.request.deadline <= Loop::Current()->Now();
      Refuse(std::move(late),
             is_late ? DeadlineExceeded("the deadline passed in the queue") : TooLate());
    }
    if (turn.returning != nullptr) {
      turn.returning->Set();
    } else if (turn.event) {
      StartEvent(*turn.worker, std::move(turn.event));
    } else if (turn.next) {
      StartOn(*turn.worker, *std::move(turn.next));
    } else {
      return;
    }
  }
}

ServiceHost::Turn ServiceHost::NextTurn() {
  Turn turn;
  LeafLock lock(&mutex_);
  if (!threads_.HasFree()) return turn;
  if (PopReturning(&turn)) return turn;
  if (!events_.empty()) {
    turn.event = std::move(events_.front());
    events_.pop_front();
    AcquireThread(std::nullopt);
    turn.worker = &NextWorker();
  } else {
    PickNext(&turn);
  }
  if (waiting_.empty()) starving_since_ns_ = 0;
  return turn;
}

bool ServiceHost::PopReturning(Turn* turn) {
  const auto first = std::find_if(returning_.begin(), returning_.end(), [&](const Returning& one) {
    return threads_.HasFree(one.service_class);
  });
  if (first == returning_.end()) return false;
  AcquireThread(first->service_class);
  turn->returning = first->turn;
  returning_.erase(first);
  return true;
}

void ServiceHost::PickNext(Turn* turn) {
  ClassScheduler::Picked picked = scheduler_.Pick(Loop::Current()->Now(), threads_);
  const auto take = [&](const WaitingRequest& request) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    --waiting_count_;
    return std::move(waiting_.extract(request.ticket).mapped());
  };
  for (const WaitingRequest& old : picked.dropped) turn->dropped.push_back(take(old));
  if (picked.next) {
    turn->next = take(*picked.next);
    AcquireThread(picked.next->service_class);
    turn->worker = &NextWorker();
    if (time_limit_) handed_over_.push_back(picked.next->arrived);
  }
  TellOldestWaiting();
}

// Includes handed_over_, because requests may wait for a busy worker loop while the queue is empty.
void ServiceHost::TellOldestWaiting() {
  if (!time_limit_) return;
  TimePoint oldest = scheduler_.OldestArrival();
  for (const TimePoint received : handed_over_) oldest = std::min(oldest, received);
  time_limit_->SetOldestWaiting(oldest);
}

void ServiceHost::TakenOver(TimePoint received) {
  LeafLock lock(&mutex_);
  const auto found = std::find(handed_over_.begin(), handed_over_.end(), received);
  if (found != handed_over_.end()) handed_over_.erase(found);
  TellOldestWaiting();
}

void ServiceHost::AcquireThread(std::optional<ClassNumber> service_class) {
  if (service_class) {
    threads_.Take(*service_class);
  } else {
    threads_.Take();
  }
  if (!threads_.HasFree()) {
    threads_taken_since_ns_ = Loop::Current()->Now().time_since_epoch().count();
  }
}

NodeLoop& ServiceHost::NextWorker() {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  return *workers[next_worker_++ % workers.size()];
}

void ServiceHost::FreeThread(std::optional<ClassNumber> service_class) {
  bool anyone_waits;
  {
    LeafLock lock(&mutex_);
    if (service_class) {
      threads_.Free(*service_class);
    } else {
      threads_.Free();
    }
    starving_since_ns_ = waiting_.empty() ? 0 : Loop::Current()->Now().time_since_epoch().count();
    threads_taken_since_ns_ = kThreadsFree;
    anyone_waits = !waiting_.empty() || !events_.empty() || !returning_.empty();
  }
  if (anyone_waits) StartWaiting();
}

void ServiceHost::ReturnToPool(ClassNumber service_class) {
  OneShotEvent turn;
  {
    LeafLock lock(&mutex_);
    if (threads_.HasFree(service_class)) return AcquireThread(service_class);
    returning_.push_back({service_class, &turn});
  }
  while (!turn.is_set()) this_thread::ParkUntilWoken();
}

Status ServiceHost::SetThreads(const ThreadShares& shares) {
  NEPTUNE_RETURN_IF_ERROR(CheckThreadShares(shares, options_.scheduling.classes.size()));
  {
    LeafLock lock(&mutex_);
    threads_.SetShares(shares);
    if (threads_.HasFree()) threads_taken_since_ns_ = kThreadsFree;
  }
  // Requests are started from a worker loop, because this may run on a thread without a loop.
  loops_.workers().front()->loop->Post([this, alive = alive_] {
    if (*alive) StartWaiting();
  });
  return OkStatus();
}

ThreadShares ServiceHost::threads() const {
  LeafLock lock(&mutex_);
  return threads_.shares();
}

std::vector<ServiceHost::ClassState> ServiceHost::Classes() const {
  std::vector<ClassState> states;
  LeafLock lock(&mutex_);
  for (ClassNumber number = 0; number < scheduler_.class_count(); ++number) {
    const ServiceClassOptions& options = scheduler_.options_of(number);
    states.push_back({.name = options.name,
                      .own_threads = threads_.own_of(number),
                      .busy_count = threads_.busy_of(number),
                      .waiting_count = scheduler_.length_of(number),
                      .queue_length_max = options.queue_length_max,
                      .guarantee = options.guarantee,
                      .share = scheduler_.ShareOf(number),
                      .totals = class_statistics_->Totals(number)});
  }
  return states;
}

// The thread of the pool that a long request holds.
class ServiceHost::PoolPlace final : public MainPoolPlace {
 public:
  PoolPlace(ServiceHost& host, ClassNumber service_class)
      : host_(host), service_class_(service_class) {
    if (!host.options_.waits_inside) MainPoolPlace::SetCurrent(this);
  }
  ~PoolPlace() override {
    MainPoolPlace::SetCurrent(nullptr);
    host_.FreeThread(service_class_);
  }

  void GiveBack() override {
    if (auto* const limited = LimitOfThread()) limited->LeavePool(this_thread::Now());
    host_.FreeThread(service_class_);
  }
  void Readmit() override {
    host_.ReturnToPool(service_class_);
    if (auto* const limited = LimitOfThread()) limited->ReturnToPool(this_thread::Now());
  }

 private:
  ServiceHost& host_;
  const ClassNumber service_class_;
};

void ServiceHost::StartOn(NodeLoop& worker, Taken taken) {
  worker.loop->Post([this, &worker, taken = std::move(taken)]() mutable {
    Taken* const source = &taken;
    const ClassNumber service_class = taken.service_class;
    const auto started = worker.scheduler->RunInPlace([this, source] {
      const PoolPlace place(*this, source->service_class);
      ServeLong(std::move(*source));
    });
    if (started.ok()) return;
    CountLoad(-1);
    if (time_limit_) TakenOver(taken.request.received);
    Refuse(std::move(taken), started.status());
    FreeThread(service_class);
  });
}

void ServiceHost::StartEvent(NodeLoop& worker, Event event) {
  worker.loop->Post([this, &worker, event = std::move(event)]() mutable {
    Event* const source = &event;
    const auto started = worker.scheduler->RunInPlace([this, source] {
      Event mine = std::move(*source);
      mine(OkStatus());
      CountLoad(-1);
      FreeThread(std::nullopt);
    });
    if (started.ok()) return;
    event(started.status());
    CountLoad(-1);
    FreeThread(std::nullopt);
  });
}

}  // namespace neptune
