// Calls that wait for a child process or for a signal. Neither can be polled for, so a user-level
// thread retries with sleeps in between.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/interruption.h"
#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/signal.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

// The first retries are short, so that short waits end quickly.
constexpr Duration kPauseMin = std::chrono::milliseconds(1);
constexpr Duration kPauseMax = std::chrono::milliseconds(20);

// Retries until there is an answer; nullopt at the deadline, or if a signal ended the wait (EINTR).
template <typename Ask>
auto AskUntilAnswered(TimePoint deadline, Ask ask) -> decltype(ask()) {
  Duration pause = kPauseMin;
  for (;;) {
    if (auto answer = ask()) return answer;
    const TimePoint now = this_thread::Now();
    if (now >= deadline) {
      errno = EAGAIN;
      return std::nullopt;
    }
    if (ConsumeInterruption() == Interruption::kEnd) {
      errno = EINTR;
      return std::nullopt;
    }
    this_thread::Park(std::min(deadline, AddSaturated(now, pause)));
    pause = std::min(2 * pause, kPauseMax);
  }
}

pid_t WaitForChild(pid_t child, int* status, int options, rusage* usage) {
  const auto ask = [&]() -> std::optional<pid_t> {
    const pid_t answer = wait4(child, status, options | WNOHANG, usage);
    return answer == 0 ? std::nullopt : std::optional<pid_t>(answer);
  };
  if (ParkingThread() == nullptr || (options & WNOHANG) != 0) {
    return wait4(child, status, options, usage);
  }
  return AskUntilAnswered(kNever, ask).value_or(-1);
}

// Consumes a signal of the set that is pending for the thread or the process, with its siginfo.
std::optional<int> ConsumeSignal(const sigset_t& set, siginfo_t* info) {
  if (const int own = ConsumePendingSignal(set); own != 0) {
    *info = {};
    info->si_signo = own;
    info->si_code = SI_TKILL;
    return own;
  }
  const timespec now{};
  const int signal = sigtimedwait(&set, info, &now);
  return signal > 0 ? std::optional<int>(signal) : std::nullopt;
}

int AwaitSignal(const sigset_t& set, siginfo_t* info, TimePoint deadline) {
  siginfo_t reported{};
  const std::optional<int> signal =
      AskUntilAnswered(deadline, [&] { return ConsumeSignal(set, &reported); });
  if (signal.has_value() && info != nullptr) *info = reported;
  return signal.value_or(-1);
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::AwaitSignal;
using neptune::interpose::ParkingThread;
using neptune::interpose::WaitForChild;

NEPTUNE_PRELOAD_CALL pid_t neptune_wait(int* status) {
  return WaitForChild(-1, status, 0, nullptr);
}

NEPTUNE_PRELOAD_CALL pid_t neptune_waitpid(pid_t child, int* status, int options) {
  return WaitForChild(child, status, options, nullptr);
}

NEPTUNE_PRELOAD_CALL pid_t neptune_wait3(int* status, int options, rusage* usage) {
  return WaitForChild(-1, status, options, usage);
}

NEPTUNE_PRELOAD_CALL pid_t neptune_wait4(pid_t child, int* status, int options, rusage* usage) {
  return WaitForChild(child, status, options, usage);
}

NEPTUNE_PRELOAD_CALL int neptune_waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  if (ParkingThread() == nullptr || (options & WNOHANG) != 0 || info == nullptr) {
    return waitid(type, id, info, options);
  }
  return neptune::interpose::AskUntilAnswered(
             neptune::kNever,
             [&]() -> std::optional<int> {
               info->si_pid = 0;
               const int result = waitid(type, id, info, options | WNOHANG);
               return result == 0 && info->si_pid == 0 ? std::nullopt : std::optional<int>(result);
             })
      .value_or(-1);
}

NEPTUNE_PRELOAD_CALL int neptune_sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  if (ParkingThread() == nullptr) return sigwaitinfo(set, info);
  return AwaitSignal(*set, info, neptune::kNever);
}

NEPTUNE_PRELOAD_CALL int neptune_sigtimedwait(const sigset_t* set, siginfo_t* info,
                                              const timespec* time) {
  if (ParkingThread() == nullptr || time == nullptr) return sigtimedwait(set, info, time);
  const neptune::Duration limit =
      std::chrono::seconds(time->tv_sec) + neptune::Duration(time->tv_nsec);
  return AwaitSignal(*set, info, neptune::AddSaturated(neptune::this_thread::Now(), limit));
}

NEPTUNE_PRELOAD_CALL int neptune_sigwait(const sigset_t* set, int* signal) {
  if (ParkingThread() == nullptr) return sigwait(set, signal);
  const int result = AwaitSignal(*set, nullptr, neptune::kNever);
  if (result < 0) return errno;
  *signal = result;
  return 0;
}
