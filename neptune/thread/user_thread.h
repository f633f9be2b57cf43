// User-level threads: many blocking functions on one event loop.
//
// A user-level thread stays on the loop it was started on, so addresses of thread-local objects
// stay valid while its frames are on the stack. Parking returns the kernel thread to the loop;
// waking makes the thread ready, from any kernel thread.
//
//      event handler --Spawn--> ready --> running --return--> done --> joiners wake
//                                 ^          |
//                                Wake       Park (until woken, deadline, or stop)
//                                 |          v
//                                 +------- parked
//
// Source: [Chu05] 5.A (two-level threads).
// Departs from source: a thread never migrates between kernel threads; work that must run elsewhere
//   is shipped there as a call.
// Threads: ThreadScheduler on its loop's thread only; UserThread::Wake and reference counting on
//   any thread.
// Units: deadlines are TimePoint of the loop.
// Limits: ThreadSchedulerOptions::thread_count_max threads a scheduler; a Spawn over it fails with
//   kResourceExhausted. The stack size is fixed for each scheduler; an overflow ends the process,
//   at the guard page or, for a stack with a canary, when the thread has ended.
// errno, the locale (uselocale) and the C++ runtime's exception state are kept for each user-level
// thread; `__thread` objects are shared by all user-level threads of one kernel thread.

#pragma once

#include <locale.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  kStopping,  // the scheduler is stopping: wait no longer, finish
};

// A counted reference to a user-level thread. It keeps the bookkeeping alive, not the stack.
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
  // Returns the calling user-level thread, or null in event handlers and plain kernel threads.
  static UserThread* Current();

  // Ends the thread's park, or its next park if it is not parked (one wake is remembered). A late
  // wake makes a later Park return early, so every wait is a loop over a condition. Any thread.
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

  // Resets the object for a new thread that runs `body`.
  void Begin(Task body, std::string name);
  void WakeOnHome();
  // The timer has run.
  void OnTimer();
  // Runs destructors of thread-specific values at thread exit; null until a key is registered.
  static std::atomic<void (*)(UserThread&)> end_specific_;

  std::atomic<int> reference_count_{0};
  ThreadScheduler& scheduler_;
  Task body_;
  std::string name_;
  Stack stack_;
  Task left_stack_;          // runs after a stack that the scheduler does not own is left
  void* context_ = nullptr;  // machine context, saved while the thread is not running
  void* sanitizer_fiber_ = nullptr;
  State state_ = State::kReady;
  bool wake_pending_ = false;
  bool expired_ = false;  // the deadline of the latest park has passed
  TimePoint park_deadline_ = kNever;
  // The timer stays set when a park ends early, and serves later parks whose deadline is not
  // earlier: most parks of a thread have ever later deadlines and are woken long before.
  TimerId timer_ = 0;  // 0: not set
  TimePoint timer_at_{};
  UserThread* next_ready_ = nullptr;
  int saved_errno_ = 0;
  uint64_t saved_exception_state_[2] = {0, 0};
  locale_t saved_locale_ = LC_GLOBAL_LOCALE;
  uint64_t live_index_ = 0;     // position in the scheduler's list of live threads
  WorkMeter* meter_ = nullptr;  // innermost running meter
  std::vector<ThreadRef> joiners_;
  std::vector<void*> specific_;  // values of ThreadSpecific keys
};

// Number of finished threads whose bookkeeping a scheduler keeps for new ones.
inline constexpr size_t kSpareThreadCountMax = 64;

struct ThreadSchedulerOptions {
  // Stack size of each thread. Larger: room for deeper handlers; memory is only committed when
  // touched. Default: 256 KiB, room for a storage engine's frames.
  size_t stack_size = 256 * 1024;
  // Maximum number of live threads. Default: 100,000, the number of parked requests a node is
  // designed for.
  size_t thread_count_max = 100000;
};

class ThreadScheduler {
 public:
  // REQUIRES: on the loop's thread, and at most one scheduler a loop.
  explicit ThreadScheduler(Loop& loop, const ThreadSchedulerOptions& options = {});
  // Threads that are still parked are abandoned with their stacks. Call Stop first and let them
  // finish.
  ~ThreadScheduler();
  ThreadScheduler(const ThreadScheduler&) = delete;
  ThreadScheduler& operator=(const ThreadScheduler&) = delete;

  // Returns the scheduler whose loop is running the caller, or null.
  static ThreadScheduler* Current();
  // See this_thread::CountWork.
  static void CountWork(UserThread& thread, Duration work);
  // Call in the child of a fork, which has no loop: the calling user-level thread becomes a plain
  // kernel thread.
  static void ForgetAfterFork();

  // Starts `body` on a new thread at the loop's next turn.
  // Errors: kResourceExhausted at the limit or without memory; kCancelled after Stop.
  StatusOr<ThreadRef> Spawn(Task body, std::string name = {});
  // Starts `body` on `stack`, which the caller owns and which may have any size. `left_stack` runs
  // on the loop after the thread has left the stack for good.
  StatusOr<ThreadRef> SpawnOn(const Stack& stack, Task body, Task left_stack);
  // Runs `body` at once on a new thread and returns when it parks first or finishes; returns null
  // if it has finished. Only from an event handler.
  StatusOr<ThreadRef> RunInPlace(Task body, std::string name = {});

  // Refuses new threads, and ends every current and later park with kStopping.
  void Stop();

  Loop& loop() const { return loop_; }
  size_t live_count() const { return live_.size(); }
  // The same, for any thread; the answer may be old.
  size_t seen_live_count() const { return seen_live_count_.load(std::memory_order_relaxed); }
  size_t ready_count() const { return ready_count_; }
  bool stopping() const { return stopping_; }
  // True while a user-level thread runs on the loop or is ready to. Any thread may ask; the answer
  // may be old.
  bool is_busy() const { return is_busy_.load(std::memory_order_relaxed); }

  // The following are for the waiting primitives, on a user-level thread of this scheduler.
  ParkResult ParkCurrent(TimePoint deadline);
  // Parks until woken, even while the scheduler stops: for waits that cannot be abandoned.
  void ParkCurrentUntilWoken();
  void YieldCurrent();
  // Parks until `thread` is done.
  ParkResult Join(UserThread& thread, TimePoint deadline);

 private:
  friend class UserThread;
  friend class WorkMeter;

  Status CheckRoom(const std::string& name) const;
  StatusOr<UserThread*> Create(Task body, std::string name);
  UserThread* CreateOn(const Stack& stack, Task body, std::string name);
  void MakeReady(UserThread* thread);
  UserThread* PopReady();
  void RunReady();
  void PostTurn();
  // The thread may be gone when this returns false: it has finished.
  bool SwitchInto(UserThread* thread);
  void SwitchOut(UserThread* thread);
  void Finish(UserThread* thread);
  // Keeps the object of a finished thread for the next one, if nothing else refers to it.
  void Recycle(ThreadRef thread);
  // Has the thread's timer run at `deadline` or earlier.
  void SetTimer(UserThread* thread, TimePoint deadline);
  void CancelTimer(UserThread* thread);
  friend struct ThreadEntry;

  Loop& loop_;
  const ThreadSchedulerOptions options_;
  StackPool stacks_;
  // Threads that are ready to run, in order; each is live.
  UserThread* first_ready_ = nullptr;
  UserThread* last_ready_ = nullptr;
  size_t ready_count_ = 0;
  std::vector<ThreadRef> live_;
  std::vector<ThreadRef> spares_;  // objects of finished threads; at most kSpareThreadCountMax
  UserThread* current_ = nullptr;
  std::atomic<bool> is_busy_{false};
  std::atomic<size_t> seen_live_count_{0};
  StretchClock stretch_;          // runs for the current thread while it has a meter
  const locale_t loop_locale_;    // locale of event handlers
  void* loop_context_ = nullptr;  // the loop's machine context while a thread runs
  [[maybe_unused]] void* loop_sanitizer_fiber_ = nullptr;
  [[maybe_unused]] const void* loop_stack_low_ = nullptr;
  [[maybe_unused]] size_t loop_stack_size_ = 0;
  bool run_posted_ = false;
  bool stopping_ = false;
  const std::shared_ptr<ThreadScheduler*> alive_;  // null once destroyed; checked by posted turns
};

// Operations of the calling user-level thread. REQUIRES: UserThread::Current() is not null.
namespace this_thread {

// Returns the kernel thread to the loop until Wake, `deadline` or stop. No LeafMutex may be held.
ParkResult Park(TimePoint deadline = kNever);
// Like Park without a deadline, but a stop does not end it.
void ParkUntilWoken();
// Lets other ready threads and the loop's events run first.
void Yield();
// Returns kDeadline at `when`, or kStopping if the scheduler stops earlier. Wakes are kept for the
// next Park.
ParkResult SleepUntil(TimePoint when);
ParkResult SleepFor(Duration duration);
TimePoint Now();
// Adds processor time that was used elsewhere for this thread (a child process, a modelled
// processor) to its WorkMeters.
void CountWork(Duration work);
// Uses modelled (or really spun) processor time.
void Consume(Processors& processors, Duration cost);

}  // namespace this_thread

}  // namespace neptune
