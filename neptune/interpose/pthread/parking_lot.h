// Queues of threads that wait at an address until another thread releases them; the base of
// mutexes, conditions, semaphores and the other POSIX objects.
//
//   mutex.unlock:  lot.AtAddress(mutex, [](queue) { ...; queue.LetGo(queue.first(), token); });
//   mutex.lock:    lot.Wait({.address = mutex}, still_locked, ...)
//
// The objects stay what the program has allocated, with libc's size and initialisers; the waiters
// are kept here, in a table by address.
//
// Source: [Chu05] V.A (synchronisation of the thread package); parking lots as in WebKit's WTF.
// Threads: thread-safe, for both kinds of threads. Callbacks run under the lock of the address's
//   bucket: they must be short and must neither wait nor call the lot. An object may be destroyed
//   as soon as its last waiter is released.
// Signals: a handler on a plain kernel thread may release waiters (sem_post), so signals are
//   blocked there while a bucket is locked. The runtime's own kernel threads always block them.

#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/interpose/pthread/waiter.h"

namespace neptune::interpose {

class ParkingLot {
 public:
  // A thread in a queue.
  struct Waiter {
    const void* address = nullptr;
    int wish = 0;   // what it waits for, as defined by the object
    int token = 0;  // value it is released with, as defined by the object
    bool queued = true;
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
    PthreadWaiter thread{};
  };

  class Bucket;

  // The waiters at one address, in queue order.
  class Queue {
   public:
    Waiter* first() const { return After(nullptr); }
    // The waiter after `waiter`; null: none. REQUIRES: `waiter` was not released.
    Waiter* After(const Waiter* waiter) const;
    bool empty() const { return first() == nullptr; }
    // Releases the waiter; it is woken after the bucket's lock is released.
    void LetGo(Waiter* waiter, int token);

   private:
    friend class ParkingLot;
    Queue(Bucket& bucket, const void* address) : bucket_(bucket), address_(address) {}

    Bucket& bucket_;
    const void* const address_;
    Waiter* released_ = nullptr;
  };

  struct WaitRequest {
    const void* address = nullptr;
    int wish = 0;
    bool in_front = false;  // queue in front of the present waiters
    PthreadWaiter::Until until{};
  };
  enum class Ended { kLetGo, kDeadline, kInterrupted, kNotBegun };
  struct WaitResult {
    Ended ended = Ended::kNotBegun;
    int token = 0;
  };

  ParkingLot();
  ~ParkingLot();
  ParkingLot(const ParkingLot&) = delete;
  ParkingLot& operator=(const ParkingLot&) = delete;

  // The process-wide lot. Created at the first use, never destroyed.
  static ParkingLot& Get();
  // Called in a forked child, which has none of the waiting threads: starts with a new lot.
  static void ForgetAfterFork();

  // If `still_needed` returns true under the bucket's lock, queues the calling thread, runs
  // `after_queueing` without the lock, and waits. A thread that is released just as its wait ends
  // for another reason counts as released.
  WaitResult Wait(const WaitRequest& request, absl::FunctionRef<bool()> still_needed,
                  absl::FunctionRef<void()> after_queueing);
  WaitResult Wait(const WaitRequest& request, absl::FunctionRef<bool()> still_needed) {
    return Wait(request, still_needed, [] {});
  }

  // True only if no thread waits at the address that queued before an event that the caller has
  // observed. Cheap.
  bool NobodyWaits(const void* address) const;
  void AtAddress(const void* address, absl::FunctionRef<void(Queue&)> function);

 private:
  class BucketLock;
  static constexpr int kBucketCount = 512;

  Bucket& BucketOf(const void* address) const;

  const std::unique_ptr<Bucket[]> buckets_;
};

}  // namespace neptune::interpose
