// A loop's timers and the tasks of other threads have their turn while descriptors are always
// ready.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/world/descriptor_readiness.h"
#include "neptune/world/network.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

// Ready again after each event, which takes a millisecond.
class BusyWatcher final : public ReadinessWatcher {
 public:
  BusyWatcher(const Loop& loop, std::atomic<int>& event_count)
      : loop_(loop), event_count_(event_count) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_.data()), 0);
  }
  ~BusyWatcher() override {
    for (const int end : pair_) close(end);
  }
  void OnReady(uint32_t) override {
    ++event_count_;
    const TimePoint end = loop_.Now() + milliseconds(1);
    while (loop_.Now() < end) {
    }
    MakeReady();
  }
  void MakeReady() {
    char byte = 0;
    (void)recv(pair_[0], &byte, 1, MSG_DONTWAIT);
    EXPECT_EQ(write(pair_[1], "x", 1), 1);
  }
  int watched() const { return pair_[0]; }

 private:
  const Loop& loop_;
  std::atomic<int>& event_count_;
  std::array<int, 2> pair_{-1, -1};
};

class RealLoopTest : public testing::Test {
 protected:
  // Keeps the loop busy with the events of 64 descriptors.
  void Flood() {
    Notification flooded;
    loop_.Post([&] {
      for (int i = 0; i < 64; ++i) {
        const auto watcher = std::make_shared<BusyWatcher>(loop_, event_count_);
        EXPECT_TRUE(loop_.readiness()->Watch(watcher->watched(), watcher).ok());
        watcher->MakeReady();
      }
      flooded.Notify();
    });
    flooded.WaitForNotification();
  }
  ~RealLoopTest() override { world_->Stop(); }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop& loop_ = **world_->StartLoop({.name = "busy"});
  std::atomic<int> event_count_{0};
};

TEST_F(RealLoopTest, ADueTimerWaitsForFewEvents) {
  Flood();
  std::vector<int> waits;
  for (int i = 0; i < 20; ++i) {
    Notification fired;
    loop_.Post([&] {
      loop_.RunAt(loop_.Now(), [&, before = event_count_.load()] {
        waits.push_back(event_count_ - before);
        fired.Notify();
      });
    });
    fired.WaitForNotification();
  }
  for (const int wait : waits) EXPECT_LE(wait, 2);
}

TEST_F(RealLoopTest, ATaskOfAnotherThreadWaitsForFewEvents) {
  Flood();
  std::vector<int> waits;
  for (int i = 0; i < 51; ++i) {
    Notification done;
    const int before = event_count_;
    loop_.Post([&] {
      waits.push_back(event_count_ - before);
      done.Notify();
    });
    done.WaitForNotification();
  }
  // The median, because this thread may wait for a processor between count and post. Turns of 64
  // events, eight in a row, would make it some hundred.
  std::nth_element(waits.begin(), waits.begin() + 25, waits.end());
  EXPECT_LE(waits[25], 16);
}

TEST_F(RealLoopTest, TasksOfAnotherThreadRunInTheirOrderHoweverLongTheyTake) {
  std::vector<int> order;
  Notification done;
  for (int i = 0; i < 50; ++i) {
    loop_.Post([this, &order, i] {
      const TimePoint end = loop_.Now() + milliseconds(1);
      while (loop_.Now() < end) {
      }
      order.push_back(i);
    });
  }
  loop_.Post([&] { done.Notify(); });
  done.WaitForNotification();
  ASSERT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(RealLoopTest, ATaskThatComesWhileOthersAreRunIsRunWithoutAnotherWakeUp) {
  for (int i = 0; i < 50; ++i) {
    Notification begun;
    Notification late_done;
    std::atomic<int> done_count{0};
    const auto work = [&] {
      const TimePoint end = loop_.Now() + std::chrono::microseconds(1100);
      while (loop_.Now() < end) {
      }
      ++done_count;
    };
    Notification all_posted;
    loop_.Post([&] { all_posted.WaitForNotification(); });  // the next tasks are fetched together
    loop_.Post([&] {
      begun.Notify();
      work();
    });
    for (int task = 0; task < 3; ++task) loop_.Post(work);
    all_posted.Notify();
    begun.WaitForNotification();
    loop_.Post([&] { late_done.Notify(); });
    late_done.WaitForNotification();
    EXPECT_EQ(done_count, 4);
  }
}

// One end of a stream on which the same byte goes to and fro.
class PlayingEnd final : public StreamHandler {
 public:
  explicit PlayingEnd(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {
    stream_->Start(this);
  }
  void Serve() { stream_->Write("x"); }
  void OnData(std::string_view bytes) override { stream_->Write(std::string(bytes)); }
  void OnClosed(const Status&) override {}

 private:
  const std::unique_ptr<Stream> stream_;
};

// The streams' descriptors have events when a task of another thread destroys them, in a turn that
// asks descriptors afterwards.
TEST_F(RealLoopTest, StreamsThatAnotherThreadDestroysReportNothingMore) {
  Loop& server = **world_->StartLoop({.name = "server"});
  std::vector<std::unique_ptr<PlayingEnd>> answering;  // used on the server's loop
  std::vector<std::unique_ptr<PlayingEnd>> playing;    // used on the loop under test
  const auto run_on = [](Loop& loop, const std::function<void()>& work) {
    Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  };
  std::unique_ptr<Listener> listener;
  run_on(server, [&] {
    listener = *server.network().Listen({kLoopbackAddress, 0}, {}, [&](auto stream) {
      answering.push_back(std::make_unique<PlayingEnd>(std::move(stream)));
    });
  });
  constexpr int kStreamCount = 64;
  for (int round = 0; round < 20; ++round) {
    Notification connected;
    run_on(loop_, [&] {
      for (int i = 0; i < kStreamCount; ++i) {
        loop_.network().Connect(
            listener->local(), loop_.Now() + std::chrono::seconds(10), [&](auto stream) {
              ASSERT_TRUE(stream.ok()) << stream.status();
              playing.push_back(std::make_unique<PlayingEnd>(*std::move(stream)));
              playing.back()->Serve();
              if (playing.size() == kStreamCount) connected.Notify();
            });
      }
    });
    connected.WaitForNotification();
    run_on(loop_, [&] { playing.clear(); });
  }
  run_on(server, [&] {
    answering.clear();
    listener.reset();
  });
}

}  // namespace
}  // namespace neptune
