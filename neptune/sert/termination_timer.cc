// The timer thread: finds requests over the threshold, and signals them repeatedly until they have
// ended.

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>

#include "neptune/sert/sert.h"
#include "neptune/sert/termination.h"
#include "neptune/sert/termination_threshold.h"

namespace neptune::sert {
namespace {

// Maximum time between checks of all requests. Smaller: reacts sooner to a falling threshold.
constexpr int64_t kLookIntervalMaxNs = 50'000'000;
// Time between two signals to a request that could not be ended yet.
constexpr int64_t kAskIntervalNs = 200'000;
constexpr double kLongestS = 86'400;

std::atomic<bool> timer_runs{false};
int timer_signal = 0;

// Options for all threads; the timer reads them at each check.
pthread_mutex_t options_mutex = PTHREAD_MUTEX_INITIALIZER;
ThresholdOptions options;
bool options_changed = false;

class Timer {
 public:
  Timer() : threshold_(options_) {}

  // Signals requests over the threshold; returns the time of the next check.
  int64_t Check(int64_t now) {
    AdoptOptions();
    CountEnded(now);
    const int64_t limit = threshold_.Now(TimePoint(Duration(now))).count();
    totals.threshold_ns.store(limit, std::memory_order_relaxed);
    int64_t next = now + std::min(kLookIntervalMaxNs, options_.lower_bound.count());
    for (size_t i = 0; i < kRecordCount; ++i) {
      RequestRecord* const record = RecordAt(i);
      if (record == nullptr) break;  // records are claimed in order
      const uint64_t generation = record->generation.load(std::memory_order_acquire);
      if ((generation & 1) == 0) continue;
      const int64_t over_at = record->begun_ns.load(std::memory_order_relaxed) + limit;
      if (over_at <= now) Ask(record, generation, now);
      next = std::min(next, over_at <= now ? now + kAskIntervalNs : over_at);
    }
    return next;
  }

 private:
  void Ask(RequestRecord* record, uint64_t generation, int64_t now) {
    if (record->asked_generation.exchange(generation, std::memory_order_relaxed) != generation) {
      record->asked_ns.store(now, std::memory_order_relaxed);
    }
    SendSignal(*record, generation, timer_signal);
  }

  void AdoptOptions() {
    pthread_mutex_lock(&options_mutex);
    if (options_changed) {
      options_ = options;
      threshold_ = TerminationThreshold(options_);
      options_changed = false;
    }
    pthread_mutex_unlock(&options_mutex);
  }

  void CountEnded(int64_t now) {
    const uint64_t ended = CountRequests().ended;
    const uint64_t lost = totals.lost.load(std::memory_order_relaxed);
    threshold_.OnServed(TimePoint(Duration(now)), ended - ended_seen_);
    threshold_.OnLost(TimePoint(Duration(now)), lost - lost_seen_);
    ended_seen_ = ended;
    lost_seen_ = lost;
  }

  ThresholdOptions options_;
  TerminationThreshold threshold_;
  uint64_t ended_seen_ = CountRequests().ended;
  uint64_t lost_seen_ = totals.lost;
};

void* RunTimer(void*) {
  Timer timer;
  while (true) {
    const int64_t until = timer.Check(NowNs());
    const timespec at = {until / 1'000'000'000, until % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
}

int StartTimer(int signum) {
  if (signum <= 0 || signum > SIGRTMAX || signum == SIGKILL || signum == SIGSTOP) return EINVAL;
  if (timer_runs.exchange(true)) return EALREADY;
  int error = ClaimRecord() == nullptr ? ENOMEM : InstallHandler(signum);
  if (error == 0) {
    timer_signal = signum;
    // The program's signals must not be handled on the timer's thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    error = pthread_create(&thread, nullptr, &RunTimer, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error == 0) pthread_detach(thread);
  }
  if (error != 0) timer_runs = false;
  return error;
}

Duration FromSecondsOf(double seconds) {
  return Duration(std::llround(std::clamp(seconds, -1.0, kLongestS) * 1e9));
}

}  // namespace
}  // namespace neptune::sert

extern "C" {

int SERT_init_timer(int signum) {
  const int error = neptune::sert::StartTimer(signum);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

void SERT_set_args(sert_arg* args) {
  namespace sert = neptune::sert;
  if (args == nullptr || std::isnan(args->lower_bound_s) || std::isnan(args->upper_bound_s) ||
      std::isnan(args->window_s) || args->upper_bound_s > sert::kLongestS ||
      args->window_s > sert::kLongestS) {
    errno = EINVAL;
    return;
  }
  const neptune::ThresholdOptions options = {
      .lower_bound = sert::FromSecondsOf(args->lower_bound_s),
      .upper_bound = sert::FromSecondsOf(args->upper_bound_s),
      .low_watermark = args->low_watermark,
      .high_watermark = args->high_watermark,
      .alpha = args->alpha,
      .window = sert::FromSecondsOf(args->window_s)};
  if (neptune::FaultOf(options) != nullptr) {
    errno = EINVAL;
    return;
  }
  pthread_mutex_lock(&sert::options_mutex);
  sert::options = options;
  sert::options_changed = true;
  pthread_mutex_unlock(&sert::options_mutex);
  errno = 0;
}

}  // extern "C"
