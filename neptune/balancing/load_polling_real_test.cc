// Polls and probes over the operating system's sockets: a poll waits no longer than the caller
// allows.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Endpoint kAnyPort{kLoopbackAddress, 0};

class RealLoadPollingTest : public testing::Test {
 protected:
  RealLoadPollingTest() : world_(MakeRealWorld({.seed = 1})), loop_(StartLoop("client")) {
    Do([this] {
      scheduler_ = std::make_unique<ThreadScheduler>(*loop_);
      agent_ =
          *PollingAgent::Open(*loop_, kAnyPort, [this](uint64_t cookie, const LoadReport& report) {
            reported_ = {cookie, report};
            reported_once_.Notify();
          });
    });
  }
  ~RealLoadPollingTest() override {
    world_->Stop();
    sockets_.clear();
    servers_.clear();
    agent_.reset();
    scheduler_.reset();
  }

  Loop* StartLoop(const std::string& name) { return *world_->StartLoop({.name = name}); }

  // Runs `body` on the client's loop; returns when it is done.
  void Do(absl::AnyInvocable<void()> body) {
    Notification done;
    loop_->Post([&] {
      body();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // Adds a server on a new kernel thread.
  Endpoint AddServer(uint32_t load) {
    Loop* const loop = StartLoop("server");
    Endpoint at;
    Notification opened;
    loop->Post([&] {
      LoadIndexServer::Hooks hooks;
      hooks.load = [load](std::string_view) { return LoadReport{load, milliseconds(load)}; };
      servers_.push_back(*LoadIndexServer::Open(*loop, kAnyPort, std::move(hooks)));
      at = servers_.back()->local();
      opened.Notify();
    });
    opened.WaitForNotification();
    return at;
  }

  // Adds a socket on the client's loop that passes polls to `on_datagram`.
  Endpoint AddSocket(Network::DatagramHandler on_datagram) {
    Endpoint at;
    Do([&] {
      sockets_.push_back(
          *loop_->network().OpenDatagram({.bind = kAnyPort}, std::move(on_datagram)));
      at = sockets_.back()->local();
    });
    return at;
  }

  PollOutcome Poll(const std::vector<Endpoint>& targets, Duration patience) {
    PollOutcome outcome;
    Notification done;
    loop_->Post([&] {
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        const TimePoint begin = this_thread::Now();
                        outcome = agent_->Poll(targets, begin + patience);
                        took_ = this_thread::Now() - begin;
                        done.Notify();
                      })
                      .ok());
    });
    done.WaitForNotification();
    return outcome;
  }

  std::unique_ptr<World> world_;
  Loop* const loop_;
  std::vector<std::unique_ptr<LoadIndexServer>> servers_;
  std::vector<std::unique_ptr<DatagramSocket>> sockets_;
  std::unique_ptr<ThreadScheduler> scheduler_;
  std::unique_ptr<PollingAgent> agent_;
  std::pair<uint64_t, LoadReport> reported_;
  Notification reported_once_;
  Duration took_{0};
};

TEST_F(RealLoadPollingTest, LeastLoadedServerIsChosenOnceAllAnswered) {
  const PollOutcome outcome = Poll({AddServer(3), AddServer(1), AddServer(2)}, seconds(60));
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_EQ(outcome.answered.count(), 3u);
  EXPECT_FALSE(outcome.timed_out);
}

TEST_F(RealLoadPollingTest, SilentServerIsNotWaitedForLongerThanTheDeadline) {
  const Endpoint silent = AddSocket([](const Endpoint&, std::string_view) {});
  const PollOutcome outcome = Poll({silent, silent}, milliseconds(10));
  EXPECT_EQ(outcome.best, std::nullopt);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_GE(took_, milliseconds(10));
}

// The operating system refuses a closed port; the poll continues with the others and does not wait
// for it.
TEST_F(RealLoadPollingTest, ClosedPortIsNotWaitedForAndDisturbsNoOtherAnswer) {
  const Endpoint server = AddServer(7);
  const Endpoint silent = AddSocket([](const Endpoint&, std::string_view) {});
  Do([this] { sockets_.clear(); });
  for (int i = 0; i < 20; ++i) {
    const PollOutcome outcome = Poll({silent, server}, seconds(60));
    EXPECT_EQ(outcome.best, 1u);
    EXPECT_TRUE(outcome.refused[0]);
    EXPECT_FALSE(outcome.timed_out);
  }
  EXPECT_EQ(Poll({server}, seconds(60)).best, 0u);
}

// An answer counts only if it comes from the endpoint that was asked.
TEST_F(RealLoadPollingTest, AnswerFromAnotherSocketIsIgnored) {
  AddSocket([](const Endpoint&, std::string_view) {});
  DatagramSocket* const stranger = sockets_.back().get();
  const Endpoint asked = AddSocket([&](const Endpoint& from, std::string_view bytes) {
    std::string answer(bytes.substr(0, 9));  // kind and number
    answer[0] = 'l';
    answer.append(12, '\0');  // idle, not silent, nothing pending
    (void)stranger->SendTo(from, answer);
  });
  const PollOutcome outcome = Poll({asked, AddServer(4)}, milliseconds(50));
  EXPECT_FALSE(outcome.answered[0]) << "no forged idle server";
}

TEST_F(RealLoadPollingTest, ProbeIsReportedAndNotWaitedFor) {
  const Endpoint server = AddServer(7);
  Do([&] { agent_->Probe(server, ServiceName("echo"), 42); });
  reported_once_.WaitForNotification();
  EXPECT_EQ(reported_.first, 42u);
  EXPECT_EQ(reported_.second.load_index, 7u);
  EXPECT_EQ(reported_.second.silence, milliseconds(7));
}

}  // namespace
}  // namespace neptune
