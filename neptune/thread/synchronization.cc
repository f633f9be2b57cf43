#include "neptune/thread/synchronization.h"

#include <glog/logging.h>

#include <algorithm>

namespace neptune {

void ThreadMutex::Lock() {
  UserThread* const self = UserThread::Current();
  CHECK(self != nullptr) << "ThreadMutex locked outside a user-level thread";
  {
    LeafLock lock(&state_mutex_);
    if (owner_ == nullptr) {
      owner_ = self;
      return;
    }
    CHECK(owner_ != self) << "ThreadMutex locked twice by one thread";
    waiters_.emplace_back(self);
  }
  // A wake that was meant for an outer wait is returned once the mutex is held.
  int wake_count = 0;
  while (!OwnedBy(self)) {
    this_thread::ParkUntilWoken();
    ++wake_count;
  }
  if (wake_count > 1) self->Wake();
}

bool ThreadMutex::OwnedBy(const UserThread* thread) {
  LeafLock lock(&state_mutex_);
  return owner_ == thread;
}

bool ThreadMutex::TryLock() {
  LeafLock lock(&state_mutex_);
  if (owner_ != nullptr) return false;
  owner_ = UserThread::Current();
  CHECK(owner_ != nullptr) << "ThreadMutex locked outside a user-level thread";
  return true;
}

void ThreadMutex::Unlock() {
  ThreadRef next;
  {
    LeafLock lock(&state_mutex_);
    CHECK(owner_ != nullptr && owner_ == UserThread::Current())
        << "ThreadMutex unlocked by a thread that does not hold it";
    owner_ = nullptr;
    if (!waiters_.empty()) {
      next = std::move(waiters_.front());
      waiters_.pop_front();
      owner_ = next.get();
    }
  }
  if (next) next->Wake();
}

ParkResult ThreadCondition::Wait(ThreadMutex& mutex, TimePoint deadline) {
  UserThread* const self = UserThread::Current();
  {
    LeafLock lock(&state_mutex_);
    waiters_.emplace_back(self);
  }
  mutex.Unlock();
  const ParkResult result = this_thread::Park(deadline);
  Remove(self);
  mutex.Lock();
  return result;
}

void ThreadCondition::Remove(UserThread* thread) {
  LeafLock lock(&state_mutex_);
  std::erase_if(waiters_, [&](const ThreadRef& waiter) { return waiter.get() == thread; });
}

void ThreadCondition::NotifyOne() {
  ThreadRef woken;
  {
    LeafLock lock(&state_mutex_);
    if (waiters_.empty()) return;
    woken = std::move(waiters_.front());
    waiters_.pop_front();
  }
  woken->Wake();
}

void ThreadCondition::NotifyAll() {
  std::deque<ThreadRef> woken;
  {
    LeafLock lock(&state_mutex_);
    woken.swap(waiters_);
  }
  for (const ThreadRef& thread : woken) thread->Wake();
}

}  // namespace neptune
