#include "neptune/world/real/stream_poller.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/world/real/real_loop.h"

namespace neptune {

StreamPoller::StreamPoller(RealLoop& loop) : loop_(loop), poller_(loop.io()) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  PCHECK(poller >= 0) << "a loop without a poller";
  poller_.assign(poller);
}

void StreamPoller::Add(int descriptor, std::shared_ptr<Watcher> watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = watcher.get();
  PCHECK(epoll_ctl(poller_.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0);
  watchers_.emplace(watcher.get(), std::move(watcher));
  if (!waiting_) Wait();
}

void StreamPoller::Forget(Watcher* watcher) {
  for (int i = 0; i < event_count_; ++i) {
    if (events_[i].data.ptr == watcher) events_[i].data.ptr = nullptr;
  }
  const auto node = watchers_.extract(watcher);  // destroyed last
}

void StreamPoller::Wait() {
  waiting_ = true;
  poller_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](const boost::system::error_code& error) {
                       if (!error) Tell();
                     });
}

void StreamPoller::Tell() {
  event_count_ = epoll_wait(poller_.native_handle(), events_.data(), kEventCountMax, 0);
  for (int i = 0; i < event_count_; ++i) {
    if (events_[i].data.ptr == nullptr) continue;
    static_cast<Watcher*>(events_[i].data.ptr)->OnReady(events_[i].events);
  }
  event_count_ = 0;
  // Behind what the connections have to send: nobody waits for this call.
  loop_.Post([this] { Wait(); });
}

}  // namespace neptune
