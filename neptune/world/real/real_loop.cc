#include "neptune/world/real/real_loop.h"

#include <glog/logging.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <utility>

#include "neptune/world/real/background_threads.h"
#include "neptune/world/real/real_network.h"
#include "neptune/world/real/thread_priority.h"

namespace neptune {
namespace {

constexpr int kLocalRoundCountMax = 8;
// Maximum capacity for foreign tasks that is kept between runs.
constexpr size_t kSpareTaskCountMax = 1024;
// Maximum turns in a row, and time, for descriptors only, before Asio's events are polled.
constexpr int kDescriptorTurnCountMax = 8;
constexpr Duration kDescriptorTimeMax = std::chrono::milliseconds(1);

void ConfigureThisThread(const LoopOptions& options) {
  // Signals go to the program's main thread, except SIGPROF, which samples the running thread.
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), options.name.substr(0, 15).c_str());
  SetThreadPriority(options.priority);
}

}  // namespace

RealLoop::RealLoop(const LoopOptions& options, uint64_t seed, BackgroundThreads* background)
    : options_(options),
      background_(background),
      io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),  // sockets are used on this thread only
      keep_running_(io_.get_executor()),
      os_timer_(io_),
      random_(seed),
      read_buffer_(std::make_unique<std::array<char, 64 * 1024>>()),
      descriptor_poller_(std::make_unique<DescriptorPoller>(*this)),
      network_(std::make_unique<RealNetwork>(*this)) {}

RealLoop::~RealLoop() { Stop(); }

TimePoint RealLoop::Now() const {
  return TimePoint(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
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
      has_foreign_tasks_.store(true, std::memory_order_release);
    }
    // One wake-up of the poller serves all tasks that arrive before it.
    if (first) {
      if (background_ != nullptr) background_->MakeWay(task_, Now());
      boost::asio::post(io_, [this] {
        BeginPart();
        RunForeignTasks();
      });
    }
  }
}

// Runs what other threads have posted, in its order; what does not fit into this part of the turn
// is run in the next one.
void RealLoop::RunForeignTasks() {
  if (fetched_tasks_.empty()) {
    if (!has_foreign_tasks_.load(std::memory_order_acquire)) return;
    LeafLock lock(&foreign_mutex_);
    fetched_tasks_.swap(foreign_tasks_);
    has_foreign_tasks_.store(false, std::memory_order_relaxed);
  }
  while (next_fetched_ < fetched_tasks_.size()) {
    std::exchange(fetched_tasks_[next_fetched_++], nullptr)();
    if (stop_ || PartIsOver()) break;
  }
  if (next_fetched_ < fetched_tasks_.size()) return;
  next_fetched_ = 0;
  fetched_tasks_.clear();
  if (fetched_tasks_.capacity() > kSpareTaskCountMax) fetched_tasks_ = std::vector<Task>();
}

TimerId RealLoop::RunAt(TimePoint when, Task task) {
  const TimerId id = timers_.Add(when, std::move(task));
  if (when < os_timer_at_) ArmTimer();
  return id;
}

bool RealLoop::CancelTimer(TimerId timer) { return timers_.Cancel(timer); }

void RealLoop::ArmTimer() {
  const TimePoint next = timers_.NextTime();
  if (next == os_timer_at_) return;
  os_timer_at_ = next;
  if (next == kNever) {
    os_timer_.cancel();
    return;
  }
  os_timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(next.time_since_epoch())));
  os_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // rearmed
    os_timer_at_ = kNever;
    BeginPart();
    RunDueTimers();
  });
}

void RealLoop::RunDueTimers() {
  const TimePoint now = Now();
  while (auto task = timers_.PopDue(now)) {
    (*task)();
    if (PartIsOver()) break;  // the others are due in the next turn
  }
  ArmTimer();
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

// Runs some of Asio's events, waiting for one only if nothing is left to do here.
void RealLoop::RunReadyOrWait() {
  const bool is_idle = local_tasks_.empty() && fetched_tasks_.empty() &&
                       !has_foreign_tasks_.load(std::memory_order_acquire) &&
                       !descriptor_poller_->has_fetched_events();
  if (is_idle) {
    task_.Wait();
    io_.run_one();
  } else {
    const TimePoint end = Now() + kPartOfTurnMax;
    while (io_.poll_one() > 0 && Now() < end) {
    }
  }
}

void RealLoop::ReturnToOthers() { background_->Return(task_); }

void RealLoop::Run() {
  ConfigureThisThread(options_);
  if (background_ != nullptr) background_->Add(task_);
  SetCurrent(this);
  int descriptor_turns = 0;
  TimePoint poll_at = Now();
  while (!stop_) {
    BeginPart();
    RunForeignTasks();
    if (os_timer_at_ <= part_began_) RunDueTimers();
    BeginPart();
    if (descriptor_turns < kDescriptorTurnCountMax && part_began_ < poll_at &&
        descriptor_poller_->NotifyAgain()) {
      ++descriptor_turns;
    } else {
      RunReadyOrWait();
      descriptor_turns = 0;
      poll_at = Now() + kDescriptorTimeMax;
    }
    BeginPart();
    RunLocalTasks();
    descriptor_poller_->EndTurn();
  }
  SetCurrent(nullptr);
  if (background_ != nullptr) background_->Remove(task_);
}

void RealLoop::Stop() {
  stop_ = true;
  io_.stop();
  if (thread_.joinable()) thread_.join();
  local_tasks_.clear();
  timers_ = TimerQueue();
  fetched_tasks_.clear();
  std::vector<Task> dropped;  // destroyed outside the lock: a task may own something that posts
  LeafLock lock(&foreign_mutex_);
  dropped.swap(foreign_tasks_);
}

}  // namespace neptune
