// Where threads wait at an address until another thread lets them go: what mutexes, conditions, semaphores and the
// rest of POSIX's objects are made of.
//
//   mutex.unlock:  lot.AtAddress(mutex, [](queue) { next = queue.first(); ...; queue.Release(next, token); });
//   mutex.lock:    lot.Wait({.address = mutex}, still_locked, ...)
//
// The objects themselves stay what the program has allocated, of libc's size and initialised by libc's initialisers;
// who waits stands here, in a table by address.
//
// Source: [Chu05] V.A (synchronisation of the thread package); parking lots as in WebKit's WTF.
// Threads: thread-safe, for both kinds of threads. Callbacks run under the lock of the address's bucket: they are short
//   and neither wait nor call the lot. An object may be destroyed as soon as its last thread was let go.
// Signals: a handler that runs on a plain kernel thread may let others go (sem_post), so signals are blocked there
//   while a bucket is locked. The runtime's own kernel threads block them always.

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
    int wish = 0;   // what it waits for; the object's own meaning
    int token = 0;  // what it is let go with; the object's own meaning
    bool queued = true;
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
    PthreadWaiter thread{};
  };

  class Bucket;

  // Those that wait at one address, the first one in front.
  class Queue {
   public:
    Waiter* first() const { return After(nullptr); }
    // The one behind `waiter`; null: none. REQUIRES: `waiter` was not let go.
    Waiter* After(const Waiter* waiter) const;
    bool empty() const { return first() == nullptr; }
    // It goes on, after the bucket's lock is released.
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
    bool in_front = false;  // of those that wait already
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

  // The process's own. Made at the first use, never destroyed.
  static ParkingLot& Get();
  // In the child of a fork, which has none of the others' threads: a fresh one.
  static void ForgetAfterFork();

  // If `still_needed`, under the bucket's lock, the calling thread joins the queue; then `after_queueing` runs without
  // the lock, and the thread waits. A thread that is let go just as its wait ends for another reason counts as let go.
  WaitResult Wait(const WaitRequest& request, absl::FunctionRef<bool()> still_needed,
                  absl::FunctionRef<void()> after_queueing);
  WaitResult Wait(const WaitRequest& request, absl::FunctionRef<bool()> still_needed) {
    return Wait(request, still_needed, [] {});
  }

  // True only if no thread waits at the address that queued before something that the caller has seen. Cheap.
  bool NobodyWaits(const void* address) const;
  void AtAddress(const void* address, absl::FunctionRef<void(Queue&)> function);

 private:
  class BucketLock;
  static constexpr int kBucketCount = 512;

  Bucket& BucketOf(const void* address) const;

  const std::unique_ptr<Bucket[]> buckets_;
};

}  // namespace neptune::interpose
