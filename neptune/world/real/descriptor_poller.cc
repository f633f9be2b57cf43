#include "neptune/world/real/descriptor_poller.h"

#include <glog/logging.h>
#include <unistd.h>

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
  poller_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
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
