#include "neptune/world/real/real_loop.h"

#include <glog/logging.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <utility>

#include "neptune/world/real/background_threads.h"
#include "neptune/world/real/real_network.h"
#include "neptune/world/real/thread_priority.h"

namespace neptune {
namespace {

constexpr int kLocalRoundCountMax = 8;
// Maximum capacity for foreign tasks that is kept between runs.
constexpr size_t kSpareTaskCountMax = 1024;
// After descriptors had no events, a loop with other work asks them again after this time.
constexpr Duration kQuietTime = std::chrono::microseconds(20);

TimePoint SystemTime() {
  return TimePoint(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

#if defined(__x86_64__)
uint64_t ReadTicks() { return __builtin_ia32_rdtsc(); }

// The operating system has found that the counters of all processors agree and count time.
bool SystemCountsTicks() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(file >> source) && source == "tsc";
}
#else
uint64_t ReadTicks() { return 0; }
bool SystemCountsTicks() { return false; }
#endif

bool TicksAreSteady() {
  static const bool are_steady = SystemCountsTicks();
  return are_steady;
}

void ConfigureThisThread(const LoopOptions& options) {
  // Signals go to the program's main thread, except SIGPROF, which samples the running thread, and
  // SIGBUS, which a read of a truncated mapping causes here (neptune/base/file.h): the kernel ends
  // a process that blocks it.
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGPROF);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), options.name.substr(0, 15).c_str());
  SetThreadPriority(options.priority);
}

}  // namespace

RealLoop::RealLoop(const LoopOptions& options, uint64_t seed, BackgroundThreads* background)
    : options_(options),
      background_(background),
      ticks_are_steady_(TicksAreSteady()),
      random_(seed),
      read_buffer_(std::make_unique<std::array<char, 64 * 1024>>()),
      descriptor_poller_(std::make_unique<DescriptorPoller>(*this)),
      network_(std::make_unique<RealNetwork>(*this)) {}

RealLoop::~RealLoop() { Stop(); }

TimePoint RealLoop::Now() const {
  if (!ticks_are_steady_ || Loop::Current() != this) return SystemTime();
  const uint64_t ticks = ReadTicks();
  if (const std::optional<TimePoint> now = clock_.Read(ticks)) return *now;
  const TimePoint now = SystemTime();
  return clock_.Set(ticks, now, ReadTicks());
}

Duration RealLoop::ProcessorTime() const {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void RealLoop::FillUnpredictable(char* bytes, size_t size) {
  constexpr size_t kAtOnceMax = 256;  // limit of getentropy
  while (size > 0) {
    const size_t now = std::min(size, kAtOnceMax);
    CHECK_EQ(getentropy(bytes, now), 0) << "the operating system has no random bytes";
    bytes += now;
    size -= now;
  }
}

Network& RealLoop::network() { return *network_; }

void RealLoop::Post(Task task) {
  if (Loop::Current() == this) {
    local_tasks_.push_back(std::move(task));
  } else {
    bool first = false;
    {
      LeafLock lock(&foreign_mutex_);
      first = foreign_tasks_.empty();
      foreign_tasks_.push_back(std::move(task));
      has_foreign_tasks_.store(true);
    }
    if (first && background_ != nullptr) background_->MakeWay(task_, Now());
    // One wake-up serves all tasks that arrive before it, and a loop that is at work needs none: it
    // sees them before it waits.
    if (first && is_waiting_.load()) descriptor_poller_->Wake();
  }
}

// Runs what other threads have posted, in its order; what does not fit into this part of the turn
// is run in the next one.
bool RealLoop::RunForeignTasks() {
  if (fetched_tasks_.empty()) {
    if (!has_foreign_tasks_.load(std::memory_order_acquire)) return false;
    LeafLock lock(&foreign_mutex_);
    fetched_tasks_.swap(foreign_tasks_);
    has_foreign_tasks_.store(false, std::memory_order_relaxed);
  }
  while (next_fetched_ < fetched_tasks_.size()) {
    std::exchange(fetched_tasks_[next_fetched_++], nullptr)();
    if (stop_ || PartIsOver()) break;
  }
  if (next_fetched_ < fetched_tasks_.size()) return true;
  next_fetched_ = 0;
  fetched_tasks_.clear();
  if (fetched_tasks_.capacity() > kSpareTaskCountMax) fetched_tasks_ = std::vector<Task>();
  return true;
}

TimerId RealLoop::RunAt(TimePoint when, Task task) { return timers_.Add(when, std::move(task)); }

bool RealLoop::CancelTimer(TimerId timer) { return timers_.Cancel(timer); }

// The time of the part: tasks of other threads may have run in it before.
bool RealLoop::RunDueTimers() {
  if (timers_.NextTime() > part_began_) return false;
  while (auto task = timers_.PopDue(part_began_)) {
    (*task)();
    if (PartIsOver()) break;  // the others are due in the next turn
  }
  return true;
}

// Runs posted tasks for several rounds before the poller is asked again: an event makes a thread
// ready, the thread writes, the write is sent. Then sockets get their turn.
void RealLoop::RunLocalTasks() {
  for (int round = 0; round < kLocalRoundCountMax && !local_tasks_.empty(); ++round) {
    for (size_t count = local_tasks_.size(); count > 0 && !stop_; --count) {
      Task task = std::move(local_tasks_.front());
      local_tasks_.pop_front();
      task();
      if (PartIsOver()) return;
    }
  }
}

void RealLoop::Start() {
  thread_ = std::thread([this] { Run(); });
}

void RealLoop::FetchEvents() {
  const bool is_idle =
      local_tasks_.empty() && fetched_tasks_.empty() && !descriptor_poller_->has_fetched_events();
  if (!is_idle) {
    if (part_began_ >= poll_at_) descriptor_poller_->Poll();
    return;
  }
  is_waiting_.store(true);
  // Another thread either sees that this one waits, or its task is seen here.
  const TimePoint next_timer = timers_.NextTime();
  if (has_foreign_tasks_.load() || next_timer <= part_began_) {
    descriptor_poller_->Poll();
  } else {
    task_.Wait();
    descriptor_poller_->Wait(next_timer);
    BeginPart();
  }
  is_waiting_.store(false, std::memory_order_relaxed);
}

void RealLoop::ReturnToOthers() { background_->Return(task_); }

// Sends what was written and closes what was closed, before descriptors are asked again.
void RealLoop::FinishPart() {
  if (!local_tasks_.empty()) {
    BeginPart();
    RunLocalTasks();
  }
  descriptor_poller_->EndTurn();
}

void RealLoop::Run() {
  ConfigureThisThread(options_);
  if (background_ != nullptr) background_->Add(task_);
  SetCurrent(this);
  while (!stop_) {
    BeginPart();
    const bool ran_tasks = RunForeignTasks();
    const bool ran_timers = RunDueTimers();
    if (ran_tasks || ran_timers) {
      FinishPart();
      BeginPart();
    }
    FetchEvents();
    if (descriptor_poller_->Notify() > 0) {
      poll_at_ = part_began_;
    } else if (part_began_ >= poll_at_) {
      poll_at_ = part_began_ + kQuietTime;
    }
    FinishPart();
  }
  SetCurrent(nullptr);
  if (background_ != nullptr) background_->Remove(task_);
}

void RealLoop::Stop() {
  stop_ = true;
  descriptor_poller_->Wake();
  if (thread_.joinable()) thread_.join();
  local_tasks_.clear();
  timers_ = TimerQueue();
  fetched_tasks_.clear();
  std::vector<Task> dropped;  // destroyed outside the lock: a task may own something that posts
  LeafLock lock(&foreign_mutex_);
  dropped.swap(foreign_tasks_);
}

}  // namespace neptune
