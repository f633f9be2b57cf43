// Calls that wait for several descriptors.

#include <signal.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/interruption.h"
#include "neptune/interpose/time_limits.h"

namespace neptune::interpose {
namespace {

using Waiter = DescriptorWatch::Waiter;

// Waits of one thread for several descriptors at once.
class WaitForAny {
 public:
  explicit WaitForAny(UserThread* thread) : thread_(thread) {}
  ~WaitForAny() {
    for (const auto& waiter : waiters_) waiter->Part();
  }

  // False if the descriptor cannot be watched.
  bool Add(int number, short events) {
    Descriptor* const descriptor = FindTracked(number);
    if (descriptor == nullptr) return false;
    Descriptor::Watched watched = descriptor->WatchHere(number, Descriptor::For::kPoll);
    if (watched.watch == nullptr) return false;
    waiters_.push_back(
        std::make_unique<Waiter>(thread_, static_cast<uint32_t>(events), Waiter::Kind::kLooks));
    waiters_.back()->Join(std::move(watched.watch));
    if (dependency_ == nullptr) dependency_ = watched.file->dependency();
    return true;
  }
  // Enters the capsule of the first descriptor with a dependency. False: errno has the reason.
  bool EnterCapsule(TimePoint* deadline) {
    return stay_.Enter(dependency_.get(), reinterpret_cast<uintptr_t>(dependency_.get()), deadline);
  }
  CallPermit& stay() { return stay_; }
  // Clears the flags; only later events count.
  void Rejoin() {
    for (const auto& waiter : waiters_) waiter->Rejoin();
  }
  bool AnyClosed() const {
    return std::any_of(waiters_.begin(), waiters_.end(),
                       [](const auto& waiter) { return waiter->watch().closed(); });
  }
  ParkResult Park(TimePoint deadline) {
    ParkResult result = ParkResult::kWoken;
    while (result == ParkResult::kWoken && !AnyTold()) {
      interrupted_ = ConsumeInterruption() != Interruption::kNone;
      if (interrupted_) break;
      result = this_thread::Park(deadline);
    }
    return AnyTold() ? ParkResult::kWoken : result;
  }
  // True if a signal was handled in the last Park; these calls never restart after one.
  bool interrupted() const { return interrupted_; }

 private:
  bool AnyTold() const {
    return std::any_of(waiters_.begin(), waiters_.end(),
                       [](const auto& waiter) { return waiter->notified(); });
  }

  UserThread* const thread_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  std::shared_ptr<const Dependency> dependency_;
  CallPermit stay_;
  bool interrupted_ = false;
};

bool AllTracked(const pollfd* descriptors, nfds_t count) {
  return std::all_of(descriptors, descriptors + count, [](const pollfd& one) {
    return one.fd < 0 || FindTracked(one.fd) != nullptr;
  });
}

// Result of a wait that ended at its deadline: 0, or an error if it was the capsule's deadline.
int TimedOut(CallPermit& stay, int error_before) {
  const int error = stay.TimeOut(0);
  errno = error == 0 ? error_before : error;
  return error == 0 ? 0 : -1;
}

// Like poll(2) with a time limit. `look` polls the system without waiting.
template <typename Look>
int WaitAndLook(WaitForAny& wait, TimePoint deadline, Look look) {
  const int error_before = errno;
  if (!wait.EnterCapsule(&deadline)) return -1;
  for (;;) {
    const ParkResult result = wait.Park(deadline);
    wait.Rejoin();
    const int ready = look();
    if (ready > 0) {
      errno = error_before;
      wait.stay().Succeed();
    }
    if (ready != 0) return ready;
    if (wait.AnyClosed()) {
      // The number may already name another file, which the caller did not mean.
      errno = EBADF;
      return -1;
    }
    if (wait.interrupted()) {
      wait.stay().Cancel();
      errno = EINTR;
      return -1;
    }
    if (result == ParkResult::kDeadline) return TimedOut(wait.stay(), error_before);
    if (result == ParkResult::kStopping) {
      wait.stay().Cancel();
      errno = ECANCELED;
      return -1;
    }
  }
}

int Poll(pollfd* descriptors, nfds_t count, TimePoint deadline, UserThread* thread) {
  const auto look = [&] { return RealLibc().poll(descriptors, count, 0); };
  if (const int ready = look(); ready != 0) return ready;
  WaitForAny wait(thread);
  for (nfds_t i = 0; i < count; ++i) {
    if (descriptors[i].fd >= 0 && !wait.Add(descriptors[i].fd, descriptors[i].events)) {
      return RealLibc().poll(descriptors, count, MillisUntil(deadline));
    }
  }
  return WaitAndLook(wait, deadline, look);
}

// Converts three fd_sets, with a bit per descriptor, to the form of poll(2).
std::vector<pollfd> FromSets(int count, const fd_set* readable, const fd_set* writable,
                             const fd_set* exceptional) {
  std::vector<pollfd> descriptors;
  for (int fd = 0; fd < count; ++fd) {
    short events = 0;
    if (readable != nullptr && FD_ISSET(fd, readable)) events |= POLLIN;
    if (writable != nullptr && FD_ISSET(fd, writable)) events |= POLLOUT;
    if (exceptional != nullptr && FD_ISSET(fd, exceptional)) events |= POLLPRI;
    if (events != 0) descriptors.push_back({fd, events, 0});
  }
  return descriptors;
}

// Leaves the requested descriptors that are ready in `set`; returns their number.
int Leave(const std::vector<pollfd>& descriptors, short asked, short ready, fd_set* set) {
  int count = 0;
  for (const pollfd& one : descriptors) {
    if ((one.events & asked) == 0) continue;
    if ((one.revents & ready) != 0) {
      ++count;
    } else {
      FD_CLR(one.fd, set);
    }
  }
  return count;
}

int Select(std::vector<pollfd>& descriptors, fd_set* readable, fd_set* writable,
           fd_set* exceptional, TimePoint deadline, UserThread* thread) {
  const int result = Poll(descriptors.data(), descriptors.size(), deadline, thread);
  if (result < 0) return result;
  for (const pollfd& one : descriptors) {
    if ((one.revents & POLLNVAL) == 0) continue;
    errno = EBADF;
    return -1;
  }
  return Leave(descriptors, POLLIN, POLLIN | POLLHUP | POLLERR, readable) +
         Leave(descriptors, POLLOUT, POLLOUT | POLLERR, writable) +
         Leave(descriptors, POLLPRI, POLLPRI, exceptional);
}

bool IsNow(const timespec* time) {
  return time != nullptr && time->tv_sec == 0 && time->tv_nsec == 0;
}

}  // namespace
}  // namespace neptune::interpose

using neptune::UserThread;
using neptune::interpose::IsNow;
using neptune::interpose::ParkingThread;
using neptune::interpose::RealLibc;

int neptune_poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  UserThread* const thread = timeout_ms == 0 ? nullptr : ParkingThread();
  if (thread == nullptr || !neptune::interpose::AllTracked(descriptors, count)) {
    return RealLibc().poll(descriptors, count, timeout_ms);
  }
  return neptune::interpose::Poll(descriptors, count, neptune::interpose::AfterMillis(timeout_ms),
                                  thread);
}

int neptune_ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout,
                  const sigset_t* mask) {
  UserThread* const thread = IsNow(timeout) ? nullptr : ParkingThread();
  if (thread == nullptr || !neptune::interpose::AllTracked(descriptors, count) ||
      !neptune::interpose::IsValid(timeout)) {
    return RealLibc().ppoll(descriptors, count, timeout, mask);
  }
  return neptune::interpose::Poll(descriptors, count, neptune::interpose::After(timeout), thread);
}

int neptune_select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                   timeval* timeout) {
  UserThread* const thread = ParkingThread();
  const auto real = [&] {
    return RealLibc().select(count, readable, writable, exceptional, timeout);
  };
  if (thread == nullptr || count < 0) return real();
  auto descriptors = neptune::interpose::FromSets(count, readable, writable, exceptional);
  timespec time{};
  if (timeout != nullptr) time = {timeout->tv_sec, timeout->tv_usec * 1000};
  const timespec* const limit = timeout == nullptr ? nullptr : &time;
  if (IsNow(limit) || !neptune::interpose::IsValid(limit) ||
      !neptune::interpose::AllTracked(descriptors.data(), descriptors.size())) {
    return real();
  }
  const neptune::TimePoint deadline = neptune::interpose::After(limit);
  const int result =
      neptune::interpose::Select(descriptors, readable, writable, exceptional, deadline, thread);
  // Linux returns the remaining time.
  if (timeout != nullptr) *timeout = neptune::interpose::TimevalUntil(deadline);
  return result;
}

int neptune_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                    const timespec* timeout, const sigset_t* mask) {
  UserThread* const thread = IsNow(timeout) ? nullptr : ParkingThread();
  const auto real = [&] {
    return RealLibc().pselect(count, readable, writable, exceptional, timeout, mask);
  };
  if (thread == nullptr || count < 0 || !neptune::interpose::IsValid(timeout)) return real();
  auto descriptors = neptune::interpose::FromSets(count, readable, writable, exceptional);
  if (!neptune::interpose::AllTracked(descriptors.data(), descriptors.size())) return real();
  return neptune::interpose::Select(descriptors, readable, writable, exceptional,
                                    neptune::interpose::After(timeout), thread);
}

int neptune_epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
  return neptune_epoll_pwait(epoll, events, count, timeout_ms, nullptr);
}

int neptune_epoll_pwait(int epoll, epoll_event* events, int count, int timeout_ms,
                        const sigset_t* mask) {
  const auto look = [&] { return RealLibc().epoll_pwait(epoll, events, count, 0, nullptr); };
  UserThread* const thread = timeout_ms == 0 ? nullptr : ParkingThread();
  if (thread == nullptr || neptune::interpose::FindTracked(epoll) == nullptr) {
    return RealLibc().epoll_pwait(epoll, events, count, timeout_ms, mask);
  }
  if (const int ready = look(); ready != 0) return ready;
  neptune::interpose::WaitForAny wait(thread);
  if (!wait.Add(epoll, POLLIN))
    return RealLibc().epoll_pwait(epoll, events, count, timeout_ms, mask);
  return neptune::interpose::WaitAndLook(wait, neptune::interpose::AfterMillis(timeout_ms), look);
}
