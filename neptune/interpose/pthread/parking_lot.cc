#include "neptune/interpose/pthread/parking_lot.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "neptune/world/loop.h"

namespace neptune::interpose {

class alignas(64) ParkingLot::Bucket {
 public:
  void Append(Waiter* waiter) {
    waiter->previous = last_;
    (last_ == nullptr ? first_ : last_->next) = waiter;
    last_ = waiter;
    ++size_;
  }
  void Prepend(Waiter* waiter) {
    waiter->next = first_;
    (first_ == nullptr ? last_ : first_->previous) = waiter;
    first_ = waiter;
    ++size_;
  }
  void Remove(Waiter* waiter) {
    (waiter->previous == nullptr ? first_ : waiter->previous->next) = waiter->next;
    (waiter->next == nullptr ? last_ : waiter->next->previous) = waiter->previous;
    waiter->previous = waiter->next = nullptr;
    waiter->queued = false;
    --size_;
  }
  Waiter* first() const { return first_; }
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  friend class BucketLock;
  LeafMutex mutex_;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::atomic<int> size_{0};
};

class ABSL_SCOPED_LOCKABLE ParkingLot::BucketLock {
 public:
  explicit BucketLock(Bucket& bucket) ABSL_EXCLUSIVE_LOCK_FUNCTION(bucket.mutex_)
      : bucket_(bucket), blocks_signals_(Loop::Current() == nullptr) {
    if (blocks_signals_) {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &signals_before_);
    }
    bucket_.mutex_.Lock();
  }
  ~BucketLock() ABSL_UNLOCK_FUNCTION() {
    bucket_.mutex_.Unlock();
    if (blocks_signals_) pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
  }
  BucketLock(const BucketLock&) = delete;
  BucketLock& operator=(const BucketLock&) = delete;

 private:
  Bucket& bucket_;
  const bool blocks_signals_;
  sigset_t signals_before_{};
};

namespace {

std::atomic<ParkingLot*> the_lot{nullptr};

}  // namespace

ParkingLot::Waiter* ParkingLot::Queue::After(const Waiter* waiter) const {
  Waiter* next = waiter == nullptr ? bucket_.first() : waiter->next;
  while (next != nullptr && next->address != address_) next = next->next;
  return next;
}

void ParkingLot::Queue::LetGo(Waiter* waiter, int token) {
  bucket_.Remove(waiter);
  waiter->token = token;
  waiter->next = std::exchange(released_, waiter);
}

ParkingLot::ParkingLot() : buckets_(std::make_unique<Bucket[]>(kBucketCount)) {}

ParkingLot::~ParkingLot() = default;

ParkingLot& ParkingLot::Get() {
  ParkingLot* lot = the_lot.load(std::memory_order_acquire);
  if (lot != nullptr) [[likely]]
    return *lot;
  auto* made = new ParkingLot;
  if (the_lot.compare_exchange_strong(lot, made, std::memory_order_acq_rel)) return *made;
  delete made;  // another thread was faster
  return *lot;
}

// The old lot is leaked: its locks may be held by threads that do not exist in the child.
void ParkingLot::ForgetAfterFork() { the_lot.store(new ParkingLot, std::memory_order_release); }

ParkingLot::Bucket& ParkingLot::BucketOf(const void* address) const {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return buckets_[(number * 0x9e3779b97f4a7c15u >> 32) % kBucketCount];
}

ParkingLot::WaitResult ParkingLot::Wait(const WaitRequest& request,
                                        absl::FunctionRef<bool()> still_needed,
                                        absl::FunctionRef<void()> after_queueing) {
  Bucket& bucket = BucketOf(request.address);
  Waiter self{.address = request.address, .wish = request.wish};
  {
    BucketLock lock(bucket);
    if (!still_needed()) return {};
    request.in_front ? bucket.Prepend(&self) : bucket.Append(&self);
  }
  after_queueing();
  const PthreadWaiter::Ended ended = self.thread.Wait(request.until);
  if (ended == PthreadWaiter::Ended::kWoken) return {Ended::kLetGo, self.token};
  {
    BucketLock lock(bucket);
    if (self.queued) {
      bucket.Remove(&self);
      return {ended == PthreadWaiter::Ended::kDeadline ? Ended::kDeadline : Ended::kInterrupted, 0};
    }
  }
  self.thread.Wait();  // already released; the wake is about to arrive
  return {Ended::kLetGo, self.token};
}

bool ParkingLot::NobodyWaits(const void* address) const { return BucketOf(address).empty(); }

void ParkingLot::AtAddress(const void* address, absl::FunctionRef<void(Queue&)> function) {
  Bucket& bucket = BucketOf(address);
  Queue queue(bucket, address);
  {
    BucketLock lock(bucket);
    function(queue);
  }
  // In the order of their release.
  Waiter* in_order = nullptr;
  while (queue.released_ != nullptr) {
    Waiter* const waiter = std::exchange(queue.released_, queue.released_->next);
    waiter->next = std::exchange(in_order, waiter);
  }
  while (in_order != nullptr) std::exchange(in_order, in_order->next)->thread.Wake();
}

}  // namespace neptune::interpose
