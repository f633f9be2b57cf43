// Threads that the program creates with pthread_create, as user-level threads.
//
//   pthread_create ──► StartThread: stack, kernel thread ──► start routine on a user-level thread
//   pthread_t      =   the thread's record, marked so that it cannot be one of libc's
//
// Other threads (the main thread, those made by other means) stay libc's; only their numbers are
// known here.
//
// Source: [Chu05] V.A (binary compatibility of the thread package).
// Departs from source: a thread never changes its kernel thread.
// Threads: thread-safe.
// Errors: errno values, as in POSIX: EAGAIN too many threads; ESRCH no such thread; EINVAL not
//   joinable; EDEADLK a thread joins itself.
// Limits: ThreadSchedulerOptions::thread_count_max per kernel thread; names of kThreadNameSizeMax
//   bytes.

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

// Assigns new threads to kernel threads. Set once, before the first thread.
class ThreadHome {
 public:
  virtual ~ThreadHome() = default;
  // Chooses the scheduler of the next thread; starts the kernel threads if needed. On any thread.
  virtual StatusOr<ThreadScheduler*> Choose() = 0;
  // Reports that a thread of the scheduler has ended. Called on its loop.
  virtual void Left(ThreadScheduler& scheduler) = 0;
};
void SetThreadHome(ThreadHome* home);

struct ThreadStack {
  Stack memory;
  bool is_programs = false;  // allocated by the program, which keeps it
};

class PthreadThread {
 public:
  // The calling thread; null if it is not a PthreadThread.
  static PthreadThread* Current();
  // The thread with the handle; null: a handle of libc, or the thread is joined or gone.
  static std::shared_ptr<PthreadThread> Find(pthread_t handle);
  // True if the handle is, or was, that of a PthreadThread.
  static bool IsHandle(pthread_t handle) { return (handle & 1) != 0; }

  pthread_t handle() const { return handle_; }
  uint32_t number() const { return number_; }
  const ThreadStack& stack() const { return stack_; }
  bool detached() const { return life_.load() == Life::kDetached; }

  std::string name() const;
  void SetName(std::string name);

  // Ends the current or next wait, so that the thread handles pending signals.
  void Interrupt();

  // State of pthread_setcancelstate, pthread_setcanceltype and pthread_sigmask; used by the thread
  // itself only.
  int cancel_state = PTHREAD_CANCEL_ENABLE;
  int cancel_type = PTHREAD_CANCEL_DEFERRED;
  sigset_t signal_mask{};
  // Chosen by the program; has no effect.
  std::atomic<int> scheduling_policy{SCHED_OTHER};
  // Pending signals as a bit set; bit 0 is signal 1.
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
  std::atomic<bool> ended_{false};  // the stack is no longer used
  mutable LeafMutex mutex_;
  std::string name_ ABSL_GUARDED_BY(mutex_);
  ThreadRef running_ ABSL_GUARDED_BY(mutex_);  // null before it begins and once it has ended
};

// A number that identifies the calling thread, of either kind, among all live threads; never 0. A
// forked child keeps it.
uint32_t CurrentThreadNumber();

int StartThread(const pthread_attr_t* attributes, void* (*routine)(void*), void* argument,
                pthread_t* handle);
// REQUIRES, for all three: IsHandle(handle).
int JoinThread(pthread_t handle, TimePoint deadline, void** result);  // ETIMEDOUT
int TryJoinThread(pthread_t handle, void** result);                   // EBUSY
int DetachThread(pthread_t handle);
// REQUIRES: PthreadThread::Current(). Unwinds the stack, then ends the thread.
[[noreturn]] void ExitThread(void* result);

// Called in a child forked by the calling thread, which is then the only thread: it becomes a plain
// thread and keeps its handle, its number and its values.
void ForgetThreadsAfterFork();

}  // namespace neptune::interpose
