// User-level threads: many blocking functions on one event loop.
//
// A user-level thread lives on the loop it was started on and never leaves it, so addresses of
// thread-local objects stay valid while its frames are on the stack. Parking gives the kernel
// thread back to the loop; waking makes the thread ready, from any kernel thread.
//
//      event handler --Spawn--> ready --> running --return--> done --> joiners wake
//                                 ^          |
//                                Wake       Park (until woken, deadline, or stop)
//                                 |          v
//                                 +------- parked
//
// Source: [Chu05] 5.A (two-level threads). Departs from source: a thread never migrates
//   between kernel threads; what must run elsewhere is shipped there as a call.
// Threads: ThreadScheduler on its loop's thread only; UserThread::Wake and reference counting
// anywhere. Units: deadlines are TimePoint of the loop. Limits:
// ThreadSchedulerOptions::thread_count_max threads a scheduler; one more is refused with
//   kResourceExhausted. Stack size is fixed for each scheduler; an overflow stops the process at
//   the guard.
// errno, the locale (uselocale) and the C++ runtime's exception state are kept for each user-level
// thread; `__thread` objects are shared by all user-level threads of one kernel thread.

#pragma once

#include <locale.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/thread/stack_pool.h"
#include "neptune/thread/stretch_clock.h"
#include "neptune/world/world.h"

namespace neptune {

class WorkMeter;

class ThreadScheduler;
class UserThread;

// Why a park ended.
enum class ParkResult {
  kWoken,
  kDeadline,
  kStopping,  // the scheduler stops: do not wait any more, finish
};

// A counted reference to a user-level thread; keeps its bookkeeping, not its stack, alive.
class ThreadRef {
 public:
  ThreadRef() = default;
  explicit ThreadRef(UserThread* thread);
  ThreadRef(const ThreadRef& other);
  ThreadRef(ThreadRef&& other) noexcept;
  ThreadRef& operator=(ThreadRef other) noexcept;
  ~ThreadRef();

  UserThread* get() const { return thread_; }
  UserThread* operator->() const { return thread_; }
  explicit operator bool() const { return thread_ != nullptr; }

 private:
  UserThread* thread_ = nullptr;
};

class UserThread {
 public:
  // The calling user-level thread, or null in event handlers and plain kernel threads.
  static UserThread* Current();

  // Ends the thread's park, now or the next one if it is not parked (one wake is remembered). Wakes
  // that come late make a later Park return early, so every wait is a loop over a condition. Any
  // thread.
  void Wake();

  ThreadScheduler& scheduler() const { return scheduler_; }
  const std::string& name() const { return name_; }

 private:
  friend class ThreadRef;
  friend class ThreadScheduler;
  friend class ThreadSpecificKey;
  friend class WorkMeter;
  friend struct ThreadEntry;
  enum class State { kReady, kRunning, kParked, kDone };

  explicit UserThread(ThreadScheduler& scheduler) : scheduler_(scheduler) {}

  // Makes it as new, with another body.
  void Begin(Task body, std::string name);
  void WakeOnHome();
  // Hands values to those who want them at the thread's end; null while there is nobody.
  static std::atomic<void (*)(UserThread&)> end_specific_;

  std::atomic<int> reference_count_{0};
  ThreadScheduler& scheduler_;
  Task body_;
  std::string name_;
  Stack stack_;
  Task left_stack_;          // of a stack that is not the scheduler's
  void* context_ = nullptr;  // saved machine context while not running
  void* sanitizer_fiber_ = nullptr;
  State state_ = State::kReady;
  bool wake_pending_ = false;
  int saved_errno_ = 0;
  uint64_t saved_exception_state_[2] = {0, 0};
  locale_t saved_locale_ = LC_GLOBAL_LOCALE;
  uint64_t live_index_ = 0;     // position in the scheduler's list of live threads
  WorkMeter* meter_ = nullptr;  // the innermost one that runs
  std::vector<ThreadRef> joiners_;
  std::vector<void*> specific_;  // values of ThreadSpecific keys
};

struct ThreadSchedulerOptions {
  // Stack of each thread. Larger: deeper handlers; memory is touched only as it is used.
  // Default: 256 KiB, room for a storage engine's frames.
  size_t stack_size = 256 * 1024;
  // Most threads at once. Default: 100,000, the parked requests a node is designed for.
  size_t thread_count_max = 100000;
};

class ThreadScheduler {
 public:
  // REQUIRES: on the loop's thread, and at most one scheduler a loop.
  explicit ThreadScheduler(Loop& loop, const ThreadSchedulerOptions& options = {});
  // Threads that are still parked are abandoned with their stacks; call Stop first and let them
  // finish.
  ~ThreadScheduler();
  ThreadScheduler(const ThreadScheduler&) = delete;
  ThreadScheduler& operator=(const ThreadScheduler&) = delete;

  // The scheduler whose loop runs the caller, or null.
  static ThreadScheduler* Current();
  // See this_thread::CountWork.
  static void CountWork(UserThread& thread, Duration work);
  // In the child of a fork, which has no loop: the calling user-level thread is a plain kernel thread from now on.
  static void ForgetAfterFork();

  // Starts `body` on a thread of its own at the loop's next turn.
  // Errors: kResourceExhausted at the limit or without memory; kCancelled after Stop.
  StatusOr<ThreadRef> Spawn(Task body, std::string name = {});
  // Starts `body` on `stack`, which is the caller's and may have any size; `left_stack` runs on the loop once the thread
  // has left it for good.
  StatusOr<ThreadRef> SpawnOn(const Stack& stack, Task body, Task left_stack);
  // Starts `body` at once and returns when it finished or parked first; null if it has finished. From an event
  // handler only.
  StatusOr<ThreadRef> RunInPlace(Task body, std::string name = {});

  // Refuses new threads and ends every park, now and from now on, with kStopping.
  void Stop();

  Loop& loop() const { return loop_; }
  size_t live_count() const { return live_.size(); }
  size_t ready_count() const { return ready_.size(); }
  bool stopping() const { return stopping_; }

  // For the waiting primitives, on a user-level thread of this scheduler.
  ParkResult ParkCurrent(TimePoint deadline);
  // Parks until woken, whatever the scheduler does: for waits that cannot be given up.
  void ParkCurrentUntilWoken();
  void YieldCurrent();
  // Parks until `thread` is done.
  ParkResult Join(UserThread& thread, TimePoint deadline);

 private:
  friend class UserThread;
  friend class WorkMeter;

  Status CheckRoom(const std::string& name) const;
  StatusOr<ThreadRef> Create(Task body, std::string name);
  ThreadRef CreateOn(const Stack& stack, Task body, std::string name);
  void MakeReady(UserThread* thread);
  void RunReady();
  void PostTurn();
  // REQUIRES: the caller holds a reference until it returns.
  void SwitchInto(UserThread* thread);
  void SwitchOut(UserThread* thread);
  void Finish(UserThread* thread);
  friend struct ThreadEntry;

  Loop& loop_;
  const ThreadSchedulerOptions options_;
  StackPool stacks_;
  std::deque<ThreadRef> ready_;
  std::vector<ThreadRef> live_;
  ThreadRef spare_;  // finished in place and known to nobody: the next one to be created
  UserThread* current_ = nullptr;
  StretchClock stretch_;          // of the current thread, while it has a meter
  const locale_t loop_locale_;    // of event handlers
  void* loop_context_ = nullptr;  // the loop's machine context while a thread runs
  [[maybe_unused]] void* loop_sanitizer_fiber_ = nullptr;
  [[maybe_unused]] const void* loop_stack_low_ = nullptr;
  [[maybe_unused]] size_t loop_stack_size_ = 0;
  bool run_posted_ = false;
  bool stopping_ = false;
  const std::shared_ptr<ThreadScheduler*> alive_;  // null once destroyed; posted turns look at it
};

// What the calling user-level thread can do. REQUIRES: UserThread::Current() is not null.
namespace this_thread {

// Gives the kernel thread back until Wake, `deadline` or stop. No LeafMutex may be held.
ParkResult Park(TimePoint deadline = kNever);
// As Park without a deadline, but a stop does not end it.
void ParkUntilWoken();
// Lets other ready threads and the loop's events go first.
void Yield();
// kDeadline when the time has come; kStopping if cut short. Wakes are kept for the next Park.
ParkResult SleepUntil(TimePoint when);
ParkResult SleepFor(Duration duration);
TimePoint Now();
// Tells the thread's WorkMeters of processor time that others used for it: a process, a modelled processor.
void CountWork(Duration work);
// Uses modelled (or really spun) processor time.
void Consume(Processors& processors, Duration cost);

}  // namespace this_thread

}  // namespace neptune
