#include "neptune/world/real/descriptor_poller.h"

#include <glog/logging.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/world/real/real_loop.h"

namespace neptune {

DescriptorPoller::DescriptorPoller(RealLoop& loop) : loop_(loop), poller_(loop.io()) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  PCHECK(poller >= 0) << "a loop without a poller";
  poller_.assign(poller);
}

DescriptorPoller::~DescriptorPoller() {
  for (const int descriptor : closing_) close(descriptor);
}

void DescriptorPoller::Control(int operation, int descriptor, uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  PCHECK(epoll_ctl(poller_.native_handle(), operation, descriptor, &event) == 0);
}

void DescriptorPoller::Add(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher) {
  Control(EPOLL_CTL_ADD, descriptor, events, watcher.get());
  watchers_.emplace(watcher.get(), std::move(watcher));
}

void DescriptorPoller::Change(int descriptor, uint32_t events, Watcher* watcher) {
  Control(EPOLL_CTL_MOD, descriptor, events, watcher);
}

void DescriptorPoller::Remove(int descriptor, Watcher* watcher) {
  Control(EPOLL_CTL_DEL, descriptor, 0, watcher);
  Forget(watcher);
}

Status DescriptorPoller::Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  event.data.ptr = watcher.get();
  if (epoll_ctl(poller_.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0) {
    watchers_.emplace(watcher.get(), std::move(watcher));
    return OkStatus();
  }
  const int error = errno;
  if (error == EPERM || error == EBADF || error == EEXIST) {
    return InvalidArgument("watching descriptor ", descriptor, ": ", std::strerror(error));
  }
  return ResourceExhausted("watching descriptor ", descriptor, ": ", std::strerror(error));
}

// At once, since the descriptor may name another file soon. What the loop has been told and not yet passed on still
// reaches the watcher, which is kept until the loop has forgotten it.
void DescriptorPoller::Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) {
  epoll_ctl(poller_.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
  if (Loop::Current() == &loop_) {
    Forget(watcher.get());
  } else {
    loop_.Post([this, watcher = std::move(watcher)] { Forget(watcher.get()); });
  }
}

// The system drops the registration with the descriptor, before the poller is asked again.
void DescriptorPoller::Close(int descriptor, Watcher* watcher) {
  closing_.push_back(descriptor);
  Forget(watcher);
}

void DescriptorPoller::Forget(Watcher* watcher) {
  for (int i = 0; i < event_count_; ++i) {
    if (events_[i].data.ptr == watcher) events_[i].data.ptr = nullptr;
  }
  const auto node = watchers_.extract(watcher);  // destroyed last
}

void DescriptorPoller::EndTurn() {
  for (const int descriptor : closing_) close(descriptor);
  closing_.clear();
  if (!waiting_ && !watchers_.empty()) Wait();
}

void DescriptorPoller::Wait() {
  waiting_ = true;
  poller_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                     [this](const boost::system::error_code& error) {
                       waiting_ = false;
                       if (!error) Tell();
                     });
}

void DescriptorPoller::Tell() {
  event_count_ = epoll_wait(poller_.native_handle(), events_.data(), kEventCountMax, 0);
  for (int i = 0; i < event_count_; ++i) {
    if (events_[i].data.ptr == nullptr) continue;
    static_cast<Watcher*>(events_[i].data.ptr)->OnReady(events_[i].events);
  }
  event_count_ = 0;
}

}  // namespace neptune
