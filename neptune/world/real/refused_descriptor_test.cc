// A descriptor that the system refuses to watch is an error of that descriptor, not the process's
// end.

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "neptune/base/notification.h"
#include "neptune/world/network.h"
#include "neptune/world/real/real_world.h"

namespace {
std::atomic<bool> refuses{false};
}  // namespace

// Replaces the C library's.
extern "C" int epoll_ctl(int poller, int operation, int descriptor, epoll_event* event) noexcept {
  if (refuses && operation == EPOLL_CTL_ADD) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(syscall(SYS_epoll_ctl, poller, operation, descriptor, event));
}

namespace neptune {
namespace {

using std::chrono::seconds;

// The end of one stream.
struct End final : StreamHandler {
  void OnData(std::string_view) override {}
  void OnClosed(const Status& reason) override {
    status = reason;
    closed.Notify();
  }
  std::unique_ptr<Stream> stream;
  Status status;
  Notification closed;
};

class RefusedDescriptorTest : public testing::Test {
 protected:
  ~RefusedDescriptorTest() override {
    refuses = false;
    world_->Stop();
  }
  template <typename Work>
  void OnLoop(Work work) {
    Notification done;
    loop_.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop& loop_ = **world_->StartLoop({.name = "test"});
};

TEST_F(RefusedDescriptorTest, ListeningFails) {
  OnLoop([&] {
    refuses = true;
    const auto listener = loop_.network().Listen({kLoopbackAddress, 0}, {}, [](auto) {});
    EXPECT_EQ(listener.status().code(), StatusCode::kResourceExhausted) << listener.status();
  });
}

TEST_F(RefusedDescriptorTest, AStreamEnds) {
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> accepted;
  End end;
  OnLoop([&] {
    listener = *loop_.network().Listen({kLoopbackAddress, 0}, {},
                                       [&](auto stream) { accepted = std::move(stream); });
    loop_.network().Connect(listener->local(), loop_.Now() + seconds(30), [&](auto stream) {
      ASSERT_TRUE(stream.ok()) << stream.status();
      end.stream = *std::move(stream);
      end.stream->Start(&end);
      refuses = true;  // streams are registered at the end of the turn
    });
  });
  end.closed.WaitForNotification();
  EXPECT_EQ(end.status.code(), StatusCode::kResourceExhausted) << end.status;
  OnLoop([&] {
    end.stream.reset();
    accepted.reset();
    listener.reset();
  });
}

}  // namespace
}  // namespace neptune
