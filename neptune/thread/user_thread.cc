// Boost.Context does the switch itself; this file preserves the state that a switch must not lose:
// errno, the locale, the C++ exception state, and the stack bounds known to AddressSanitizer and
// ThreadSanitizer.

#include "neptune/thread/user_thread.h"

#include <cxxabi.h>
#include <glog/logging.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/work_meter.h"

#if defined(__SANITIZE_ADDRESS__)
#define NEPTUNE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEPTUNE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define NEPTUNE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NEPTUNE_TSAN 1
#endif
#endif

#ifdef NEPTUNE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef NEPTUNE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace neptune {
namespace {

namespace context = boost::context::detail;

// Initial-exec TLS, for the same reason as in loop.cc.
__attribute__((tls_model("initial-exec"))) thread_local ThreadScheduler* current_scheduler =
    nullptr;

// Few turns of a loop last longer; in one that does, a park may end later than at once.
constexpr Duration kTurnTimeMax = std::chrono::milliseconds(100);

// The C++ ABI keeps the stack of caught exceptions and the count of uncaught ones for each kernel
// thread: a pointer and a number.
void SaveExceptionState(uint64_t (&state)[2]) {
  std::memcpy(state, abi::__cxa_get_globals(), sizeof(state));
}
void RestoreExceptionState(const uint64_t (&state)[2]) {
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), state, sizeof(state));
}

}  // namespace

ThreadRef::ThreadRef(UserThread* thread) : thread_(thread) {
  if (thread_ != nullptr) thread_->reference_count_.fetch_add(1, std::memory_order_relaxed);
}
ThreadRef::ThreadRef(const ThreadRef& other) : ThreadRef(other.thread_) {}
ThreadRef::ThreadRef(ThreadRef&& other) noexcept : thread_(std::exchange(other.thread_, nullptr)) {}
ThreadRef& ThreadRef::operator=(ThreadRef other) noexcept {
  std::swap(thread_, other.thread_);
  return *this;
}
ThreadRef::~ThreadRef() {
  if (thread_ == nullptr) return;
  if (thread_->reference_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete thread_;
}

std::atomic<void (*)(UserThread&)> UserThread::end_specific_{nullptr};

void UserThread::Begin(Task body, std::string name) {
  body_ = std::move(body);
  name_ = std::move(name);
  state_ = State::kReady;
  wake_pending_ = false;
  park_deadline_ = kNever;
  saved_errno_ = 0;
  saved_locale_ = LC_GLOBAL_LOCALE;
  std::memset(saved_exception_state_, 0, sizeof(saved_exception_state_));
  specific_.clear();
}

UserThread* UserThread::Current() {
  return current_scheduler == nullptr ? nullptr : current_scheduler->current_;
}

void UserThread::Wake() {
  if (Loop::Current() == &scheduler_.loop_) {
    WakeOnHome();
    return;
  }
  scheduler_.loop_.Post([self = ThreadRef(this)] { self->WakeOnHome(); });
}

void UserThread::WakeOnHome() {
  if (state_ == State::kParked) {
    scheduler_.MakeReady(this);
  } else if (state_ != State::kDone) {
    wake_pending_ = true;
  }
}

void UserThread::OnTimer() {
  timer_ = 0;
  if (state_ != State::kParked || park_deadline_ == kNever) return;
  if (park_deadline_ > timer_at_) return scheduler_.SetTimer(this, park_deadline_);
  expired_ = true;
  scheduler_.MakeReady(this);
}

// The first frame of every user-level thread.
struct ThreadEntry {
  static void Run(context::transfer_t from) {
    auto* thread = static_cast<UserThread*>(from.data);
    ThreadScheduler& scheduler = thread->scheduler_;
    scheduler.loop_context_ = from.fctx;
#ifdef NEPTUNE_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler.loop_stack_low_,
                                    &scheduler.loop_stack_size_);
#endif
    thread->body_();
    thread->body_ = nullptr;
    if (!thread->specific_.empty()) EndSpecific(*thread);
    if (uselocale(nullptr) != scheduler.loop_locale_) uselocale(scheduler.loop_locale_);
    thread->state_ = UserThread::State::kDone;
#ifdef NEPTUNE_ASAN
    __sanitizer_start_switch_fiber(nullptr, scheduler.loop_stack_low_, scheduler.loop_stack_size_);
#endif
#ifdef NEPTUNE_TSAN
    __tsan_switch_to_fiber(scheduler.loop_sanitizer_fiber_, 0);
#endif
    context::jump_fcontext(scheduler.loop_context_, nullptr);
    LOG(FATAL) << "a finished user-level thread was resumed";
  }

  static void EndSpecific(UserThread& thread) {
    const auto end_specific = UserThread::end_specific_.load(std::memory_order_acquire);
    if (end_specific != nullptr) end_specific(thread);
  }
};

ThreadScheduler::ThreadScheduler(Loop& loop, const ThreadSchedulerOptions& options)
    : loop_(loop),
      options_(options),
      stacks_(options.stack_size),
      stretch_(loop),
      loop_locale_(uselocale(nullptr)),
      alive_(std::make_shared<ThreadScheduler*>(this)) {}

ThreadScheduler::~ThreadScheduler() {
  *alive_ = nullptr;
  // Their timers keep the bookkeeping alive and may still run.
  for (const ThreadRef& thread : live_) {
    thread->state_ = UserThread::State::kDone;
    thread->body_ = nullptr;
  }
  LOG_IF(WARNING, !live_.empty()) << live_.size() << " user-level threads abandoned at shutdown";
}

ThreadScheduler* ThreadScheduler::Current() { return current_scheduler; }

void ThreadScheduler::ForgetAfterFork() { current_scheduler = nullptr; }

Status ThreadScheduler::CheckRoom(const std::string& name) const {
  if (stopping_) return Cancelled("starting thread '", name, "': the scheduler is stopping");
  if (live_.size() >= options_.thread_count_max) {
    return ResourceExhausted("starting thread '", name, "': ", live_.size(),
                             " threads already live");
  }
  return OkStatus();
}

StatusOr<UserThread*> ThreadScheduler::Create(Task body, std::string name) {
  NEPTUNE_RETURN_IF_ERROR(CheckRoom(name));
  NEPTUNE_ASSIGN_OR_RETURN(const Stack stack, stacks_.Take());
  return CreateOn(stack, std::move(body), std::move(name));
}

UserThread* ThreadScheduler::CreateOn(const Stack& stack, Task body, std::string name) {
  if (spares_.empty()) spares_.emplace_back(new UserThread(*this));
  UserThread* const thread = spares_.back().get();
  thread->Begin(std::move(body), std::move(name));
  thread->stack_ = stack;
  thread->context_ = context::make_fcontext(stack.top(), stack.size, &ThreadEntry::Run);
#ifdef NEPTUNE_TSAN
  thread->sanitizer_fiber_ = __tsan_create_fiber(0);
#endif
  thread->live_index_ = live_.size();
  live_.push_back(std::move(spares_.back()));
  seen_live_count_.store(live_.size(), std::memory_order_relaxed);
  spares_.pop_back();
  return thread;
}

StatusOr<ThreadRef> ThreadScheduler::Spawn(Task body, std::string name) {
  NEPTUNE_ASSIGN_OR_RETURN(UserThread * thread, Create(std::move(body), std::move(name)));
  MakeReady(thread);
  return ThreadRef(thread);
}

StatusOr<ThreadRef> ThreadScheduler::SpawnOn(const Stack& stack, Task body, Task left_stack) {
  NEPTUNE_RETURN_IF_ERROR(CheckRoom({}));
  UserThread* const thread = CreateOn(stack, std::move(body), {});
  thread->left_stack_ = std::move(left_stack);
  MakeReady(thread);
  return ThreadRef(thread);
}

StatusOr<ThreadRef> ThreadScheduler::RunInPlace(Task body, std::string name) {
  CHECK(current_ == nullptr) << "RunInPlace from a user-level thread";
  NEPTUNE_ASSIGN_OR_RETURN(UserThread * thread, Create(std::move(body), std::move(name)));
  return SwitchInto(thread) ? ThreadRef(thread) : ThreadRef();
}

void ThreadScheduler::MakeReady(UserThread* thread) {
  thread->state_ = UserThread::State::kReady;
  thread->next_ready_ = nullptr;
  (first_ready_ == nullptr ? first_ready_ : last_ready_->next_ready_) = thread;
  last_ready_ = thread;
  ++ready_count_;
  is_busy_.store(true, std::memory_order_relaxed);
  if (!run_posted_) PostTurn();
}

UserThread* ThreadScheduler::PopReady() {
  --ready_count_;
  return std::exchange(first_ready_, first_ready_->next_ready_);
}

// The captures are small enough for a Task without allocation.
void ThreadScheduler::PostTurn() {
  run_posted_ = true;
  loop_.Post([alive = alive_] {
    if (*alive != nullptr) (*alive)->RunReady();
  });
}

// One turn runs the threads that are ready now; threads that become ready meanwhile wait for the
// next turn, so that the loop's events get their share.
void ThreadScheduler::RunReady() {
  run_posted_ = false;
  for (size_t count = ready_count_; count > 0; --count) SwitchInto(PopReady());
  if (ready_count_ > 0 && !run_posted_) PostTurn();
}

void ThreadScheduler::CountWork(UserThread& thread, Duration work) {
  for (WorkMeter* m = thread.meter_; m != nullptr; m = m->outer_) m->Count(work);
}

bool ThreadScheduler::SwitchInto(UserThread* thread) {
  ThreadScheduler* const previous_scheduler = std::exchange(current_scheduler, this);
  UserThread* const previous = std::exchange(current_, thread);
  CHECK(previous == nullptr) << "user-level threads do not nest";
  thread->state_ = UserThread::State::kRunning;
  is_busy_.store(true, std::memory_order_relaxed);
  uint64_t loop_exception_state[2];
  SaveExceptionState(loop_exception_state);
  RestoreExceptionState(thread->saved_exception_state_);
  errno = thread->saved_errno_;
  if (thread->saved_locale_ != loop_locale_) uselocale(thread->saved_locale_);
#ifdef NEPTUNE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, thread->stack_.low, thread->stack_.size);
#endif
#ifdef NEPTUNE_TSAN
  loop_sanitizer_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread->sanitizer_fiber_, 0);
#endif
  if (thread->meter_ != nullptr) stretch_.Begin();
  const context::transfer_t back = context::jump_fcontext(thread->context_, thread);
  if (thread->meter_ != nullptr) CountWork(*thread, stretch_.Used());
#ifdef NEPTUNE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  thread->context_ = back.fctx;
  RestoreExceptionState(loop_exception_state);
  current_ = nullptr;
  is_busy_.store(ready_count_ > 0, std::memory_order_relaxed);
  current_scheduler = previous_scheduler;
  if (thread->state_ != UserThread::State::kDone) return true;
  Finish(thread);
  return false;
}

// Runs on the thread's own stack: leaves it, and returns when the thread is resumed.
void ThreadScheduler::SwitchOut(UserThread* thread) {
  thread->saved_errno_ = errno;
  thread->saved_locale_ = uselocale(nullptr);
  if (thread->saved_locale_ != loop_locale_) uselocale(loop_locale_);
  SaveExceptionState(thread->saved_exception_state_);
#ifdef NEPTUNE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, loop_stack_low_, loop_stack_size_);
#endif
#ifdef NEPTUNE_TSAN
  __tsan_switch_to_fiber(loop_sanitizer_fiber_, 0);
#endif
  const context::transfer_t from = context::jump_fcontext(loop_context_, nullptr);
  loop_context_ = from.fctx;
#ifdef NEPTUNE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &loop_stack_low_, &loop_stack_size_);
#endif
}

void ThreadScheduler::Finish(UserThread* thread) {
#ifdef NEPTUNE_TSAN
  __tsan_destroy_fiber(thread->sanitizer_fiber_);
#endif
  if (thread->left_stack_ == nullptr) stacks_.GiveBack(thread->stack_);
  thread->stack_ = Stack();
  std::swap(live_[thread->live_index_], live_.back());
  live_[thread->live_index_]->live_index_ = thread->live_index_;
  ThreadRef finished = std::move(live_.back());
  live_.pop_back();
  seen_live_count_.store(live_.size(), std::memory_order_relaxed);
  if (!thread->joiners_.empty()) {
    for (const ThreadRef& joiner : std::exchange(thread->joiners_, {})) joiner->Wake();
  }
  Task left_stack = std::exchange(thread->left_stack_, nullptr);
  Recycle(std::move(finished));
  if (left_stack) left_stack();
}

void ThreadScheduler::Recycle(ThreadRef thread) {
  const int own_count = thread->timer_ == 0 ? 1 : 2;  // its timer refers to it
  const bool is_free = thread->reference_count_.load(std::memory_order_acquire) == own_count;
  if (is_free && spares_.size() < kSpareThreadCountMax) {
    spares_.push_back(std::move(thread));
  } else {
    CancelTimer(thread.get());
  }
}

void ThreadScheduler::SetTimer(UserThread* thread, TimePoint deadline) {
  if (thread->timer_ != 0 && thread->timer_at_ <= deadline) return;
  CancelTimer(thread);
  thread->timer_at_ = deadline;
  thread->timer_ = loop_.RunAt(deadline, [of = ThreadRef(thread)] { of->OnTimer(); });
}

void ThreadScheduler::CancelTimer(UserThread* thread) {
  if (thread->timer_ != 0) loop_.CancelTimer(std::exchange(thread->timer_, 0));
}

ParkResult ThreadScheduler::ParkCurrent(TimePoint deadline) {
  UserThread* const thread = current_;
  CHECK(thread != nullptr) << "parking outside a user-level thread";
  CHECK(!LeafMutex::HeldByThisThread()) << "parking while holding a LeafMutex";
  if (std::exchange(thread->wake_pending_, false)) return ParkResult::kWoken;
  if (stopping_) return ParkResult::kStopping;
  if (deadline != kNever) {
    // The clock is read only for a deadline that may have passed in this turn.
    const bool is_far = deadline > AddSaturated(loop_.TurnTime(), kTurnTimeMax);
    if (!is_far && deadline <= loop_.Now()) return ParkResult::kDeadline;
    SetTimer(thread, deadline);
  }
  thread->expired_ = false;
  thread->park_deadline_ = deadline;
  thread->state_ = UserThread::State::kParked;
  SwitchOut(thread);
  thread->park_deadline_ = kNever;
  if (thread->expired_) return ParkResult::kDeadline;
  return stopping_ ? ParkResult::kStopping : ParkResult::kWoken;
}

void ThreadScheduler::ParkCurrentUntilWoken() {
  UserThread* const thread = current_;
  CHECK(thread != nullptr) << "parking outside a user-level thread";
  CHECK(!LeafMutex::HeldByThisThread()) << "parking while holding a LeafMutex";
  if (std::exchange(thread->wake_pending_, false)) return;
  thread->state_ = UserThread::State::kParked;
  SwitchOut(thread);
}

void ThreadScheduler::YieldCurrent() {
  CHECK(current_ != nullptr) << "yielding outside a user-level thread";
  UserThread* const thread = current_;
  MakeReady(thread);
  SwitchOut(thread);
}

ParkResult ThreadScheduler::Join(UserThread& thread, TimePoint deadline) {
  CHECK(&thread.scheduler_ == this && current_ != nullptr && current_ != &thread)
      << "a thread can only be joined by another thread of the same scheduler";
  while (thread.state_ != UserThread::State::kDone) {
    thread.joiners_.emplace_back(current_);
    const ParkResult result = ParkCurrent(deadline);
    if (result != ParkResult::kWoken) return result;
  }
  return ParkResult::kWoken;
}

void ThreadScheduler::Stop() {
  stopping_ = true;
  for (const ThreadRef& thread : live_) {
    if (thread->state_ == UserThread::State::kParked) MakeReady(thread.get());
  }
}

namespace this_thread {

// The scheduler of the calling thread, which waits.
static ThreadScheduler& SchedulerOfWait() {
  ThreadScheduler* const scheduler = ThreadScheduler::Current();
  CHECK(scheduler != nullptr) << "waiting outside a user-level thread";
  return *scheduler;
}

ParkResult Park(TimePoint deadline) { return SchedulerOfWait().ParkCurrent(deadline); }

void ParkUntilWoken() { SchedulerOfWait().ParkCurrentUntilWoken(); }

void Yield() { SchedulerOfWait().YieldCurrent(); }

TimePoint Now() { return Loop::Current()->Now(); }

ParkResult SleepUntil(TimePoint when) {
  bool woken = false;
  ParkResult result;
  do {
    result = Park(when);
    woken |= result == ParkResult::kWoken;
  } while (result == ParkResult::kWoken);
  if (woken) UserThread::Current()->Wake();
  return result;
}

ParkResult SleepFor(Duration duration) { return SleepUntil(AddSaturated(Now(), duration)); }

void CountWork(Duration work) { ThreadScheduler::CountWork(*UserThread::Current(), work); }

void Consume(Processors& processors, Duration cost) {
  UserThread* const thread = UserThread::Current();
  CHECK(thread != nullptr) << "consuming processor time outside a user-level thread";
  const TimePoint begin = Now();
  bool done = false;
  // The reference keeps the thread's bookkeeping alive while the cost is being paid. `done` lives
  // in this frame, so the wait continues even if the scheduler stops meanwhile.
  processors.Execute(thread->scheduler().loop(), cost, [&done, self = ThreadRef(thread)] {
    done = true;
    self->Wake();
  });
  while (!done) ParkUntilWoken();
  if (processors.models_time()) CountWork(Now() - begin);
}

}  // namespace this_thread

}  // namespace neptune
