#include "neptune/service/request_pool.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/service/compute.h"
#include "neptune/service/long_work.h"
#include "neptune/service/worker_queue.h"

namespace neptune {

// The thread of the pool that a request holds.
class RequestPool::Place final : public MainPoolPlace, public LongWorkPlace {
 public:
  Place(RequestPool& pool, ClassNumber service_class, LoopTurns& turns)
      : LongWorkPlace(turns, pool.GroupOf(service_class)),
        pool_(pool),
        service_class_(service_class) {
    MainPoolPlace::SetCurrent(this);
    LongWorkPlace::SetCurrent(this);
  }
  ~Place() override {
    LongWorkPlace::SetCurrent(nullptr);
    MainPoolPlace::SetCurrent(nullptr);
    pool_.Free(service_class_);
  }

  bool IsOwed() const override {
    const double guarantee = pool_.options_.classes[service_class_].guarantee;
    return guarantee > 0 && pool_.parts_.queue.ShareOf(service_class_) < guarantee;
  }
  void GiveBack() override {
    LeaveTurn();
    if (auto* const limited = LimitOfThread()) limited->LeavePool(this_thread::Now());
    pool_.Free(service_class_);
  }
  void Readmit() override {
    pool_.Return(service_class_);
    if (auto* const limited = LimitOfThread()) limited->ReturnToPool(this_thread::Now());
  }

 private:
  RequestPool& pool_;
  const ClassNumber service_class_;
};

uint64_t RequestPool::NextGroups() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(kServiceClassCountMax);
}

void RequestPool::Enqueue(TakenRequest&& taken) {
  const std::shared_ptr<IncomingCall> call = taken.request.call;
  const PoolQueue::Pushed pushed = parts_.queue.Push(std::move(taken), Now);
  if (pushed.entry != ClassScheduler::Entry::kTaken) {
    return RefuseNew(std::move(taken), pushed.entry);
  }
  call->OnCancel([this, ticket = pushed.ticket, alive = alive_] {
    if (*alive) DropCancelled(ticket);
  });
  StartWaiting();
}

void RequestPool::RefuseNew(TakenRequest&& taken, ClassScheduler::Entry entry) {
  parts_.load.End();
  if (parts_.limit != nullptr) parts_.limit->OnLost(Now());
  const ServiceClassOptions& full = options_.classes[taken.service_class];
  parts_.runner.Refuse(std::move(taken),
                       entry == ClassScheduler::Entry::kWaitTooLong
                           ? TooLate()
                           : ResourceExhausted("the queue of ", service_, " for class ", full.name,
                                               " holds ", full.queue_length_max, " requests"));
}

void RequestPool::RefuseLate(TakenRequest&& taken) {
  parts_.load.End();
  if (parts_.limit != nullptr) parts_.limit->OnLost(Now());
  const bool is_late = taken.request.deadline <= Now();
  parts_.runner.Refuse(std::move(taken),
                       is_late ? DeadlineExceeded("the deadline passed in the queue") : TooLate());
}

Status RequestPool::TooLate() const {
  return ResourceExhausted("the queue of ", service_,
                           " is too long: the request would finish too late");
}

void RequestPool::DropCancelled(RequestTicket ticket) {
  std::optional<TakenRequest> dropped = parts_.queue.Remove(ticket);
  if (!dropped) return;
  parts_.load.End();
  parts_.runner.Refuse(*std::move(dropped), Cancelled("the caller cancelled"));
}

void RequestPool::RunEvent(PoolQueue::Event event) {
  parts_.queue.PushEvent(std::move(event));
  parts_.load.Begin();
  StartWaiting();
}

void RequestPool::StartWaiting() {
  while (true) {
    PoolQueue::Turn turn = parts_.queue.NextTurn(Now);
    for (TakenRequest& late : turn.dropped) RefuseLate(std::move(late));
    if (turn.returning != nullptr) {
      turn.returning->Set();
    } else if (turn.event) {
      StartEvent(std::move(turn.event));
    } else if (turn.next) {
      StartRequest(*std::move(turn.next));
    } else {
      return;
    }
  }
}

void RequestPool::StartRequest(TakenRequest taken) {
  const uint64_t group = GroupOf(taken.service_class);
  auto start = [this, taken = std::move(taken)](NodeLoop& worker) mutable {
    // Two pointers, for which a task needs no allocation.
    const struct {
      TakenRequest& taken;
      LoopTurns& turns;
    } source = {taken, *worker.turns};
    const ClassNumber service_class = taken.service_class;
    const auto started = worker.scheduler->RunInPlace([this, from = &source] {
      TakenRequest mine = std::move(from->taken);
      const Place place(*this, mine.service_class, from->turns);
      parts_.runner.ServeLong(std::move(mine));
    });
    if (started.ok()) return;
    parts_.load.End();
    if (parts_.limit != nullptr) parts_.queue.OnBegun(taken.request.received);
    parts_.runner.Refuse(std::move(taken), started.status());
    Free(service_class);
  };
  parts_.loops.worker_queue().Post(std::move(start), group);
}

void RequestPool::StartEvent(PoolQueue::Event event) {
  parts_.loops.worker_queue().Post([this, event = std::move(event)](NodeLoop& worker) mutable {
    PoolQueue::Event* const source = &event;
    const auto started = worker.scheduler->RunInPlace([this, source] {
      PoolQueue::Event mine = std::move(*source);
      mine(OkStatus());
      parts_.load.End();
      Free(std::nullopt);
    });
    if (started.ok()) return;
    event(started.status());
    parts_.load.End();
    Free(std::nullopt);
  });
}

void RequestPool::Free(std::optional<ClassNumber> service_class) {
  if (parts_.queue.Free(service_class, Now)) StartWaiting();
}

void RequestPool::Return(ClassNumber service_class) {
  OneShotEvent turn;
  if (parts_.queue.Return(service_class, &turn, Now)) return;
  while (!turn.is_set()) this_thread::ParkUntilWoken();
}

void RequestPool::SetShares(const ThreadShares& shares) {
  parts_.queue.SetShares(shares);
  // Requests are started from a worker loop, because this may run on a thread without a loop.
  parts_.loops.workers().front()->loop->Post([this, alive = alive_] {
    if (*alive) StartWaiting();
  });
}

}  // namespace neptune
