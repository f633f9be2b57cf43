#include "neptune/world/real/descriptor_poller.h"

#include <glog/logging.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/world/real/real_loop.h"

namespace neptune {

namespace {

Status Refusal(int descriptor, int error) {
  if (error == EPERM || error == EBADF || error == EEXIST) {
    return InvalidArgument("watching descriptor ", descriptor, ": ", std::strerror(error));
  }
  return ResourceExhausted("watching descriptor ", descriptor, ": ", std::strerror(error));
}

}  // namespace

DescriptorPoller::DescriptorPoller(RealLoop& loop)
    : loop_(loop),
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      waker_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  PCHECK(poller_.open() && waker_.open() && timer_.open()) << "creating the loop's poller";
  Control(EPOLL_CTL_ADD, waker_.number(), EPOLLIN | EPOLLET, nullptr);
  Control(EPOLL_CTL_ADD, timer_.number(), EPOLLIN | EPOLLET, &timer_watcher_);
}

DescriptorPoller::~DescriptorPoller() {
  for (const int descriptor : closing_) close(descriptor);
}

void DescriptorPoller::Wake() const {
  const uint64_t one = 1;
  PCHECK(write(waker_.number(), &one, sizeof(one)) == sizeof(one)) << "waking a loop";
}

int DescriptorPoller::TryControl(int operation, int descriptor, uint32_t events,
                                 Watcher* watcher) const {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  return epoll_ctl(poller_.number(), operation, descriptor, &event) == 0 ? 0 : errno;
}

void DescriptorPoller::Control(int operation, int descriptor, uint32_t events,
                               Watcher* watcher) const {
  const int error = TryControl(operation, descriptor, events, watcher);
  CHECK_EQ(error, 0) << "changing the watch of descriptor " << descriptor;
}

Status DescriptorPoller::Add(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher) {
  const int error = TryControl(EPOLL_CTL_ADD, descriptor, events, watcher.get());
  if (error != 0) return Refusal(descriptor, error);
  watchers_.emplace(watcher.get(), std::move(watcher));
  return OkStatus();
}

void DescriptorPoller::AddAtEndOfTurn(int descriptor, uint32_t events,
                                      std::shared_ptr<Watcher> watcher) {
  adding_.push_back({descriptor, events, watcher.get()});
  watchers_.emplace(watcher.get(), std::move(watcher));
}

void DescriptorPoller::Change(int descriptor, uint32_t events, Watcher* watcher) {
  for (Addition& addition : adding_) {
    if (addition.watcher != watcher) continue;
    addition.events = events;
    return;
  }
  Control(EPOLL_CTL_MOD, descriptor, events, watcher);
}

void DescriptorPoller::Remove(int descriptor, Watcher* watcher) {
  Control(EPOLL_CTL_DEL, descriptor, 0, watcher);
  Forget(watcher);
}

Status DescriptorPoller::Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) {
  constexpr uint32_t kAll = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  return Add(descriptor, kAll, std::move(watcher));
}

// Unregisters at once, because the descriptor may be reused for another file soon. Events already
// fetched from the system still reach the watcher, which is kept alive until Forget.
void DescriptorPoller::Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) {
  epoll_ctl(poller_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
  if (Loop::Current() == &loop_) {
    Forget(watcher.get());
  } else {
    loop_.Post([this, watcher = std::move(watcher)] { Forget(watcher.get()); });
  }
}

void DescriptorPoller::Silence(int descriptor) {
  epoll_ctl(poller_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void DescriptorPoller::Close(int descriptor, Watcher* watcher) {
  const size_t added =
      std::erase_if(adding_, [=](const Addition& addition) { return addition.watcher == watcher; });
  // At once: the watcher may be gone when descriptors are next asked for their events, in this
  // turn. (Closing is not enough: a child process that was just spawned may share the descriptor.)
  // A watcher that was refused is not registered.
  if (added == 0 && watchers_.contains(watcher)) Control(EPOLL_CTL_DEL, descriptor, 0, nullptr);
  Forget(watcher);
  closing_.push_back(descriptor);
}

void DescriptorPoller::Forget(Watcher* watcher) {
  for (int i = next_event_; i < event_count_; ++i) {
    if (events_[i].data.ptr == watcher) events_[i].data.ptr = nullptr;
  }
  const auto node = watchers_.extract(watcher);  // destroyed at scope exit
}

void DescriptorPoller::AddPending() {
  std::vector<std::pair<std::shared_ptr<Watcher>, Status>> refused;
  for (const Addition& addition : adding_) {
    const int error =
        TryControl(EPOLL_CTL_ADD, addition.descriptor, addition.events, addition.watcher);
    if (error == 0) continue;
    const auto found = watchers_.find(addition.watcher);
    refused.emplace_back(std::move(found->second), Refusal(addition.descriptor, error));
    watchers_.erase(found);
  }
  adding_.clear();
  for (const auto& [watcher, reason] : refused) watcher->OnRefused(reason);
}

void DescriptorPoller::EndTurn() {
  if (!adding_.empty()) AddPending();
  for (const int descriptor : closing_) close(descriptor);
  closing_.clear();
}

void DescriptorPoller::Poll() {
  if (!has_fetched_events()) Fetch(0);
}

void DescriptorPoller::Wait(TimePoint until) {
  if (has_fetched_events()) return;
  SetTimer(until);
  Fetch(-1);
}

void DescriptorPoller::Fetch(int timeout_ms) {
  next_event_ = 0;
  event_count_ =
      std::max(0, epoll_wait(poller_.number(), events_.data(), kEventCountMax, timeout_ms));
}

// A timer that expires too early costs one more turn; most waits end before it does, and then need
// no system call for the next one.
void DescriptorPoller::SetTimer(TimePoint at) {
  if (at >= timer_watcher_.at) return;
  timer_watcher_.at = at;
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t ns = std::max<int64_t>(at.time_since_epoch().count(), 1);
  const itimerspec when{{0, 0}, {ns / kNsPerSecond, ns % kNsPerSecond}};
  PCHECK(timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr) == 0)
      << "setting the loop's timer";
}

int DescriptorPoller::Notify() {
  int notified_count = 0;
  while (has_fetched_events()) {
    const epoll_event event = events_[next_event_++];
    if (event.data.ptr == nullptr) continue;  // a wake, or of a watcher that is gone
    static_cast<Watcher*>(event.data.ptr)->OnReady(event.events);
    if (event.data.ptr == &timer_watcher_) continue;
    ++notified_count;
    if (loop_.PartIsOver()) break;
  }
  return notified_count;
}

}  // namespace neptune
