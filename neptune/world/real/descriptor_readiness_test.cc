// Descriptors that the runtime did not open are reported when they become ready, and no more once
// unwatched.

#include "neptune/world/descriptor_readiness.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

class Recorder : public ReadinessWatcher {
 public:
  void OnReady(uint32_t events) override {
    const bool first = (events_ & wanted) == 0;
    events_ |= events;
    if (first && (events & wanted) != 0) notified.Notify();
  }
  uint32_t events() const { return events_; }

  uint32_t wanted = POLLIN;
  Notification notified;

 private:
  uint32_t events_ = 0;
};

class DescriptorReadinessTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_), 0);
    loop_ = *world_->StartLoop({.name = "test"});
  }
  void TearDown() override {
    world_->Stop();
    close(pair_[0]);
    close(pair_[1]);
  }
  template <typename Work>
  void OnLoop(Work work) {
    Notification done;
    loop_->Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop* loop_ = nullptr;
  int pair_[2] = {-1, -1};
};

TEST_F(DescriptorReadinessTest, ReportsCurrentAndLaterReadiness) {
  const auto watcher = std::make_shared<Recorder>();
  OnLoop([&] { ASSERT_TRUE(loop_->readiness()->Watch(pair_[0], watcher).ok()); });
  ASSERT_EQ(write(pair_[1], "x", 1), 1);
  watcher->notified.WaitForNotification();
  OnLoop([&] { EXPECT_EQ(watcher->events() & (POLLIN | POLLOUT), uint32_t{POLLIN | POLLOUT}); });
}

TEST_F(DescriptorReadinessTest, ReportsAHangUp) {
  const auto watcher = std::make_shared<Recorder>();
  watcher->wanted = POLLRDHUP;
  OnLoop([&] { ASSERT_TRUE(loop_->readiness()->Watch(pair_[0], watcher).ok()); });
  shutdown(pair_[1], SHUT_WR);
  watcher->notified.WaitForNotification();
}

TEST_F(DescriptorReadinessTest, ReportsNothingOnceUnwatchedFromAnotherThread) {
  const auto watcher = std::make_shared<Recorder>();
  OnLoop([&] { ASSERT_TRUE(loop_->readiness()->Watch(pair_[0], watcher).ok()); });
  loop_->readiness()->Unwatch(pair_[0], watcher);
  ASSERT_EQ(write(pair_[1], "x", 1), 1);
  // An event of another descriptor arrives after the point where the unwanted one would have.
  const auto later = std::make_shared<Recorder>();
  OnLoop([&] { ASSERT_TRUE(loop_->readiness()->Watch(pair_[0], later).ok()); });
  later->notified.WaitForNotification();
  OnLoop([&] { EXPECT_EQ(watcher->events() & POLLIN, 0u); });
}

TEST_F(DescriptorReadinessTest, RefusesDescriptorsThatCannotBeWaitedFor) {
  FILE* const file = std::tmpfile();
  OnLoop([&] {
    const auto watcher = std::make_shared<Recorder>();
    EXPECT_EQ(loop_->readiness()->Watch(fileno(file), watcher).code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(loop_->readiness()->Watch(-1, watcher).code(), StatusCode::kInvalidArgument);
    ASSERT_TRUE(loop_->readiness()->Watch(pair_[0], watcher).ok());
    EXPECT_EQ(loop_->readiness()->Watch(pair_[0], std::make_shared<Recorder>()).code(),
              StatusCode::kInvalidArgument);
  });
  std::fclose(file);
}

}  // namespace
}  // namespace neptune
