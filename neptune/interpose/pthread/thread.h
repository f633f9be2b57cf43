// A thread that the program made with pthread_create, as a user-level thread.
//
//   pthread_create ──► StartThread: stack, choice of a kernel thread ──► start routine on a user-level thread
//   pthread_t      =   the thread's record, marked so that it cannot be one of libc's
//
// Threads that are not user-level threads - the main thread, those made by other means - stay libc's; what is known
// here of one of those is its number only.
//
// Source: [Chu05] V.A (binary compatibility of the thread package).
// Departs from source: a thread never changes its kernel thread.
// Threads: thread-safe.
// Errors: numbers of errno, as POSIX says: EAGAIN no room for one more thread; ESRCH no such thread; EINVAL not
//   joinable; EDEADLK a thread joins itself.
// Limits: ThreadSchedulerOptions::thread_count_max of each kernel thread; kThreadNameSizeMax bytes of a name.

#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/thread/stack_pool.h"
#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

inline constexpr size_t kThreadNameSizeMax = 15;

// Where new threads go. Told once, before the first of them.
class ThreadHome {
 public:
  virtual ~ThreadHome() = default;
  // The scheduler that the next thread is given to; starts the kernel threads if need be. Any thread.
  virtual StatusOr<ThreadScheduler*> Choose() = 0;
  // A thread given to that scheduler has ended. On its loop.
  virtual void Left(ThreadScheduler& scheduler) = 0;
};
void SetThreadHome(ThreadHome* home);

struct ThreadStack {
  Stack memory;
  bool is_programs = false;  // the program's own, which stays where it is
};

class PthreadThread {
 public:
  // The calling thread; null if it is none of these.
  static PthreadThread* Current();
  // The thread of that handle; null: the handle is libc's, or the thread is joined or gone.
  static std::shared_ptr<PthreadThread> Find(pthread_t handle);
  // Whether the handle is, or was, of such a thread.
  static bool IsHandle(pthread_t handle) { return (handle & 1) != 0; }

  pthread_t handle() const { return handle_; }
  uint32_t number() const { return number_; }
  const ThreadStack& stack() const { return stack_; }
  bool detached() const { return life_.load() == Life::kDetached; }

  std::string name() const;
  void SetName(std::string name);

  // Ends the wait that it is in, or the next one: it looks what there is for it.
  void Interrupt();

  // What pthread_setcancelstate, pthread_setcanceltype and pthread_sigmask tell; by the thread itself.
  int cancel_state = PTHREAD_CANCEL_ENABLE;
  int cancel_type = PTHREAD_CANCEL_DEFERRED;
  sigset_t signal_mask{};
  // As the program has chosen; it has no effect.
  std::atomic<int> scheduling_policy{SCHED_OTHER};
  // Signals that were sent to it and are not handled yet, a bit each; the lowest is of number 1.
  std::atomic<uint64_t> pending_signals{0};

 private:
  friend int StartThread(const pthread_attr_t* attributes, void* (*routine)(void*), void* argument,
                         pthread_t* handle);
  friend int JoinThread(pthread_t handle, TimePoint deadline, void** result);
  friend int TryJoinThread(pthread_t handle, void** result);
  friend int DetachThread(pthread_t handle);
  friend struct ThreadLife;
  enum class Life { kJoinable, kBeingJoined, kDetached };

  pthread_t handle_ = 0;
  uint32_t number_ = 0;
  ThreadStack stack_;
  void* (*routine_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* result_ = nullptr;
  std::atomic<Life> life_{Life::kJoinable};
  std::atomic<bool> ended_{false};  // it has left its stack for good
  mutable LeafMutex mutex_;
  std::string name_ ABSL_GUARDED_BY(mutex_);
  ThreadRef running_ ABSL_GUARDED_BY(mutex_);  // null before it begins and once it has ended
};

// A number of the calling thread, of whichever kind: never 0, unlike that of any other thread that lives. It stays the
// same in the child of a fork.
uint32_t CurrentThreadNumber();

int StartThread(const pthread_attr_t* attributes, void* (*routine)(void*), void* argument,
                pthread_t* handle);
// REQUIRES: IsHandle(handle), of these three.
int JoinThread(pthread_t handle, TimePoint deadline, void** result);  // ETIMEDOUT
int TryJoinThread(pthread_t handle, void** result);                   // EBUSY
int DetachThread(pthread_t handle);
// REQUIRES: PthreadThread::Current(). Unwinds the stack, then ends the thread.
[[noreturn]] void ExitThread(void* result);

// In the child of a fork that the calling thread has made: the process has this thread only, which is a plain one from
// now on and keeps its handle, its number and its values.
void ForgetThreadsAfterFork();

}  // namespace neptune::interpose
