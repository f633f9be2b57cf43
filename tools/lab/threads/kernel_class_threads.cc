#include "tools/lab/threads/kernel_class_threads.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "neptune/thread/user_thread.h"

namespace search::lab {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

double ClockSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Now() { return ClockSeconds(CLOCK_MONOTONIC); }

// Uses processor time of the calling kernel thread; preemption does not count.
void Burn(double seconds) {
  const double end = ClockSeconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (ClockSeconds(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (int i = 0; i < 10'000; ++i)
      asm volatile("");  // some microseconds: asking the clock costs one
  }
}

// Blocks the kernel thread, like a read that waits for data.
void Block(double seconds) {
  const double end = Now() + seconds;
  for (double left = seconds; left > 0; left = end - Now()) {
    timespec wait{.tv_sec = static_cast<time_t>(left)};
    wait.tv_nsec = static_cast<long>(1e9 * (left - std::floor(left)));
    ppoll(nullptr, 0, &wait, nullptr);
  }
}

void PrepareThread(int processor) {
  prctl(PR_SET_TIMERSLACK, 1);
  if (processor < 0) return;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(processor, &processors);
  sched_setaffinity(0, sizeof(processors), &processors);
}

}  // namespace

// Lives on the stack of the waiting caller.
struct KernelClassThreads::Request {
  neptune::ThreadRef waiter;
  double arrived_s = 0;
  Costs costs;
  std::atomic<bool> done{false};
};

KernelClassThreads::KernelClassThreads(const Options& options)
    : options_(options), random_(options.seed) {
  for (int i = 0; i < kKernelThreadCountMax; ++i) threads_.emplace_back([this] { RunThread(); });
}

KernelClassThreads::~KernelClassThreads() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    work_came_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

Status KernelClassThreads::Serve(const std::string& service_class) {
  Request request{.waiter = neptune::ThreadRef(neptune::UserThread::Current()), .arrived_s = Now()};
  {
    absl::MutexLock lock(&mutex_);
    if (!classes_.contains(service_class) && classes_.size() == kKernelClassCountMax) {
      return neptune::ResourceExhausted("no more than ", kKernelClassCountMax, " classes");
    }
    Class& one = classes_[service_class];
    one.state.name = service_class;
    ++one.state.arrived;
    if (one.waiting.size() >= static_cast<size_t>(options_.queue_length_max) && !MayBegin(one)) {
      ++one.state.refused;
      return neptune::ResourceExhausted("the queue of class '", service_class, "' is full");
    }
    request.costs.processor_s = Draw(options_.work.processor_s, &processor_strata_);
    request.costs.device_s = Draw(options_.work.device_s, &device_strata_);
    one.waiting.push_back(&request);
    work_came_.Signal();
  }
  while (!request.done) neptune::this_thread::ParkUntilWoken();
  return neptune::OkStatus();
}

double KernelClassThreads::Draw(double mean, Strata* strata) {
  if (mean <= 0) return 0;
  if (!options_.work.stratified) return random_.Exponential(mean);
  if (strata->empty()) {
    strata->resize(kStratumCount);
    std::iota(strata->begin(), strata->end(), 0);
    std::shuffle(strata->begin(), strata->end(), random_);
  }
  const double share = (strata->back() + random_.Uniform()) / kStratumCount;
  strata->pop_back();
  return -mean * std::log1p(-share);
}

Status KernelClassThreads::Set(int concurrency, const std::map<std::string, int>& classes) {
  int named = 0;
  for (const auto& [name, count] : classes) {
    if (count < 1) return InvalidArgument("class '", name, "' has ", count, " threads");
    named += count;
  }
  if (concurrency < 1 || concurrency > kKernelThreadCountMax || named > concurrency) {
    return InvalidArgument("a concurrency of ", concurrency, " for ", named,
                           " threads of classes; it is at most ", kKernelThreadCountMax);
  }
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, count] : classes) {
    if (!classes_.contains(name) && classes_.size() == kKernelClassCountMax) {
      return InvalidArgument("no more than ", kKernelClassCountMax, " classes");
    }
    classes_[name].state.name = name;
  }
  // Requests in progress are counted where they began.
  shared_busy_count_ = 0;
  for (auto& [name, one] : classes_) {
    const auto found = classes.find(name);
    one.state.thread_count = found == classes.end() ? 0 : found->second;
    if (one.state.thread_count == 0) shared_busy_count_ += one.state.busy_count;
  }
  concurrency_ = concurrency;
  shared_count_ = concurrency - named;
  work_came_.SignalAll();
  return neptune::OkStatus();
}

int KernelClassThreads::concurrency() const {
  absl::MutexLock lock(&mutex_);
  return concurrency_;
}

std::vector<KernelClassState> KernelClassThreads::States() const {
  absl::MutexLock lock(&mutex_);
  std::vector<KernelClassState> states;
  for (const auto& [name, one] : classes_) {
    states.push_back(one.state);
    states.back().waiting_count = static_cast<int>(one.waiting.size());
  }
  return states;
}

bool KernelClassThreads::MayBegin(const Class& one) const {
  return one.state.thread_count > 0 ? one.state.busy_count < one.state.thread_count
                                    : shared_busy_count_ < shared_count_;
}

KernelClassThreads::Class* KernelClassThreads::Next() {
  // Round robin: starts with the class after the last one.
  auto at = classes_.upper_bound(last_class_);
  for (size_t i = 0; i < classes_.size(); ++i, ++at) {
    if (at == classes_.end()) at = classes_.begin();
    if (at->second.waiting.empty() || !MayBegin(at->second)) continue;
    last_class_ = at->first;
    return &at->second;
  }
  return nullptr;
}

void KernelClassThreads::UseDevice(double seconds) {
  if (seconds <= 0) return;
  {
    absl::MutexLock lock(&device_mutex_);
    const auto has_room = [this] { return device_busy_count_ < options_.work.device_width; };
    device_mutex_.Await(absl::Condition(&has_room));
    ++device_busy_count_;
  }
  Block(seconds);
  absl::MutexLock lock(&device_mutex_);
  --device_busy_count_;
}

void KernelClassThreads::RunThread() {
  PrepareThread(options_.processor);
  while (true) {
    Request* request = nullptr;
    Class* one = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      while (!stopping_ && (one = Next()) == nullptr) work_came_.Wait(&mutex_);
      if (one == nullptr) return;
      request = one->waiting.front();
      one->waiting.pop_front();
      ++one->state.busy_count;
      if (one->state.thread_count == 0) ++shared_busy_count_;
    }
    const double begun_s = Now();
    const double used_s = ClockSeconds(CLOCK_THREAD_CPUTIME_ID);
    Burn(request->costs.processor_s);
    UseDevice(request->costs.device_s);
    const double end_s = Now();
    {
      absl::MutexLock lock(&mutex_);
      KernelClassState& state = one->state;
      --state.busy_count;
      if (state.thread_count == 0) --shared_busy_count_;
      ++state.served;
      state.run_s += end_s - begun_s;
      state.processor_s += ClockSeconds(CLOCK_THREAD_CPUTIME_ID) - used_s;
      state.response_s += end_s - request->arrived_s;
    }
    // After `done` the request may be destroyed.
    const neptune::ThreadRef waiter = request->waiter;
    request->done = true;
    waiter->Wake();
  }
}

}  // namespace search::lab
