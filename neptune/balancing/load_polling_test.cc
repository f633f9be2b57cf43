// Polls between simulated hosts: which answers are waited for, discarded and accepted.

#include "neptune/balancing/load_polling.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LoadPollingTest : public testing::Test {
 protected:
  LoadPollingTest()
      : client_loop_(*simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"})) {
    client_loop_->Post([this] {
      scheduler_ = std::make_unique<ThreadScheduler>(*client_loop_);
      agent_ = *PollingAgent::Open(*client_loop_, {simulator_.host("client").address(), 0},
                                   [this](uint64_t cookie, const LoadReport& report) {
                                     reports_[cookie].push_back(report);
                                   });
    });
    simulator_.RunFor(milliseconds(1));
  }

  // Adds a server with load index `load`; its name is its number.
  Endpoint AddServer(uint32_t load) {
    SimWorld& world = simulator_.AddHost({.name = StrCat(servers_.size())});
    LoadIndexServer::Hooks hooks;
    hooks.load = [this, load](std::string_view service) {
      asked_about_ = service;
      return LoadReport{load, milliseconds(load)};
    };
    hooks.gossip = [load] { return StrCat("heard by ", load); };
    hooks.announcement = [] { return std::string("announcement"); };
    hooks.on_announcement = [this](std::string_view bytes) { announced_ += bytes; };
    servers_.push_back(*LoadIndexServer::Open(**world.StartLoop({.name = "loop"}),
                                              {world.address(), 0}, std::move(hooks)));
    return servers_.back()->local();
  }

  PollOutcome Poll(const std::vector<Endpoint>& targets) {
    PollOutcome outcome;
    bool done = false;
    client_loop_->Post([&] {
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        const TimePoint begin = this_thread::Now();
                        outcome = agent_->Poll(targets, begin + milliseconds(10));
                        took_ = this_thread::Now() - begin;
                        done = true;
                      })
                      .ok());
    });
    EXPECT_TRUE(simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + seconds(1)));
    return outcome;
  }

  Simulator simulator_{1};
  Loop* const client_loop_;
  std::vector<std::unique_ptr<LoadIndexServer>> servers_;
  std::unique_ptr<ThreadScheduler> scheduler_;
  std::unique_ptr<PollingAgent> agent_;
  std::string announced_;
  std::string asked_about_;
  std::map<uint64_t, std::vector<LoadReport>> reports_;
  Duration took_{0};
};

TEST_F(LoadPollingTest, LeastLoadedServerIsChosenAsSoonAsAllAnswered) {
  const PollOutcome outcome = Poll({AddServer(3), AddServer(1), AddServer(2)});
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_LT(took_, milliseconds(2));
}

TEST_F(LoadPollingTest, HungServerIsNotWaitedForLongerThanTheDeadline) {
  const Endpoint hung = AddServer(1);
  const Endpoint loaded = AddServer(7);
  simulator_.Pause("0");
  const PollOutcome outcome = Poll({hung, loaded});
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.answered[0]);
  EXPECT_EQ(took_, milliseconds(10));
}

TEST_F(LoadPollingTest, DeadServerIsNotWaitedFor) {
  const Endpoint gone = AddServer(1);
  const Endpoint loaded = AddServer(7);
  servers_[0].reset();
  for (int i = 0; i < 3; ++i) {
    const PollOutcome outcome = Poll({gone, loaded});
    EXPECT_EQ(outcome.best, 1u);
    EXPECT_TRUE(outcome.refused[0]);
    EXPECT_FALSE(outcome.refused[1]);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_LT(took_, milliseconds(2));
  }
  const PollOutcome unanswered = Poll({gone});
  EXPECT_EQ(unanswered.best, std::nullopt);
  EXPECT_FALSE(unanswered.timed_out);
}

TEST_F(LoadPollingTest, MoreServersThanConnectedSocketsAnswer) {
  std::vector<Endpoint> servers;
  for (size_t i = 0; i < kConnectedServerCountMax + 3; ++i) servers.push_back(AddServer(1));
  for (const Endpoint& server : servers) EXPECT_EQ(Poll({server}).best, 0u);
  simulator_.RunFor(2 * kConnectedIdleTime);
  for (auto server = servers.rbegin(); server != servers.rend(); ++server) {
    EXPECT_EQ(Poll({*server}).best, 0u);
  }
}

TEST_F(LoadPollingTest, LateAnswerIsNotTakenForThatOfANewerPoll) {
  const Endpoint hung = AddServer(1);
  const Endpoint loaded = AddServer(7);
  simulator_.Pause("0");
  Poll({hung, loaded});
  simulator_.Resume("0");  // now it answers the old poll
  simulator_.RunFor(milliseconds(5));
  simulator_.Pause("0");
  const PollOutcome outcome = Poll({hung, loaded});
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_FALSE(outcome.answered[0]);
}

TEST_F(LoadPollingTest, DuplicatedAnswersDecideNothing) {
  LinkConditions twice = simulator_.links();
  twice.datagram_duplicate = 1.0;
  simulator_.SetLinks(twice);
  const Endpoint a = AddServer(3);
  const Endpoint b = AddServer(2);
  for (int i = 0; i < 50; ++i) {
    const PollOutcome outcome = Poll({a, b});
    EXPECT_EQ(outcome.best, 1u);
    EXPECT_EQ(outcome.answered.count(), 2u);
  }
}

TEST_F(LoadPollingTest, NoServerAnswers) {
  const Endpoint hung = AddServer(1);
  simulator_.Pause("0");
  const PollOutcome outcome = Poll({hung});
  EXPECT_EQ(outcome.best, std::nullopt);
  EXPECT_TRUE(outcome.timed_out);
}

TEST_F(LoadPollingTest, GossipReachesEveryCallerThatAsks) {
  const Endpoint server = AddServer(3);
  client_loop_->Post([&] {
    agent_->Probe(server, ServiceName("s"), 1);
    agent_->ProbeForGossip(server, ServiceName("s"), 2);
  });
  simulator_.RunFor(milliseconds(5));
  ASSERT_EQ(reports_[1].size(), 1u);
  EXPECT_EQ(reports_[1].front().gossip, "");
  ASSERT_EQ(reports_[2].size(), 1u);
  EXPECT_EQ(reports_[2].front().gossip, "heard by 3");
  EXPECT_EQ(reports_[2].front().load_index, 3u);
}

// Answers count only if they come from the endpoint that was asked, whatever number they carry.
TEST_F(LoadPollingTest, AnswerFromAnotherHostIsIgnored) {
  const Endpoint a = AddServer(5);
  const Endpoint b = AddServer(4);
  SimWorld& stranger = simulator_.AddHost({.name = "stranger"});
  Loop* const loop = *stranger.StartLoop({.name = "loop"});
  auto socket = *loop->network().OpenDatagram({.bind = {stranger.address(), 0}},
                                              [](const Endpoint&, std::string_view) {});
  // The first port of a host is known; guess numbers as well.
  for (uint64_t number = 0; number < 4; ++number) {
    std::string forged;
    ByteWriter writer(&forged);
    writer.Number(uint8_t{'l'});
    writer.Number(number);
    writer.Number(uint32_t{0});
    writer.Number(uint32_t{0});
    for (uint16_t port = 32768; port < 32772; ++port) {
      (void)socket->SendTo({simulator_.host("client").address(), port}, forged);
    }
  }
  const PollOutcome outcome = Poll({a, b});
  EXPECT_EQ(outcome.best, 1u) << "no forged idle server";
  EXPECT_EQ(outcome.answered.count(), 2u);
}

TEST_F(LoadPollingTest, MalformedDatagramsAreIgnored) {
  const Endpoint a = AddServer(5);
  auto socket = *client_loop_->network().OpenDatagram(
      {.bind = {simulator_.host("client").address(), 0}}, [](const Endpoint&, std::string_view) {});
  for (const std::string bytes : {"", "L", "L123", "L123456789",
                                  "L12345678\x05"
                                  "echo",
                                  "l", "Px"}) {
    (void)socket->SendTo(a, bytes);
  }
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(servers_[0]->answered_count(), 0u);
  EXPECT_EQ(Poll({a}).best, 0u);
}

TEST_F(LoadPollingTest, ProbeIsReportedWithItsCookieAndNotWaitedFor) {
  const Endpoint a = AddServer(7);
  client_loop_->Post([&] { agent_->Probe(a, ServiceName("echo"), 42); });
  simulator_.RunFor(milliseconds(1));
  ASSERT_EQ(reports_[42].size(), 1u);
  EXPECT_EQ(reports_[42][0].load_index, 7u);
  EXPECT_EQ(reports_[42][0].silence, milliseconds(7));
  EXPECT_EQ(asked_about_, "echo");
}

TEST_F(LoadPollingTest, DuplicatedProbeAnswerIsReportedOnce) {
  LinkConditions twice = simulator_.links();
  twice.datagram_duplicate = 1.0;
  simulator_.SetLinks(twice);
  const Endpoint a = AddServer(7);
  client_loop_->Post([&] { agent_->Probe(a, ServiceName("echo"), 1); });
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(reports_[1].size(), 1u);
}

TEST_F(LoadPollingTest, LastProbesAreRemembered) {
  const Endpoint a = AddServer(7);
  simulator_.Pause("0");
  client_loop_->Post([&] {
    for (uint64_t i = 0; i < 2 * kProbeCountMax; ++i) agent_->Probe(a, ServiceName("echo"), i);
  });
  simulator_.RunFor(milliseconds(10));
  simulator_.Resume("0");
  simulator_.RunFor(milliseconds(10));
  EXPECT_EQ(reports_.size(), kProbeCountMax);
  EXPECT_EQ(reports_.begin()->first, kProbeCountMax);
}

TEST_F(LoadPollingTest, ProbeIsAnsweredWithTheAnnouncement) {
  const Endpoint a = AddServer(1);
  AddServer(1);
  servers_[1]->SendProbe(a, "P" + std::string(100, '\0'));
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(announced_, "announcement");
}

// Counts what a server sends to a stranger, who may have forged the sender.
TEST_F(LoadPollingTest, AnswersToStrangersAreNoLargerThanTheirQuestions) {
  const Endpoint a = AddServer(7);
  SimWorld& world = simulator_.AddHost({.name = "stranger"});
  std::vector<size_t> answers;
  const auto socket = *(*world.StartLoop({.name = "loop"}))
                           ->network()
                           .OpenDatagram({.bind = {world.address(), 0}},
                                         [&](const Endpoint&, std::string_view bytes) {
                                           answers.push_back(bytes.size());
                                         });
  const auto answer_to = [&](const std::string& question) {
    answers.clear();
    EXPECT_TRUE(socket->SendTo(a, question).ok());
    simulator_.RunFor(milliseconds(1));
    return answers;
  };
  const std::string rest = std::string(8, '\1') + std::string(1, '\0');  // number, no service
  for (const std::string& question : {std::string("P"), "P" + std::string(10, '\0'), "L" + rest,
                                      "H" + rest, "L" + rest + std::string(10, '\0')}) {
    EXPECT_EQ(answer_to(question), std::vector<size_t>()) << question.size();
  }
  // "announcement" is 12 bytes, an answer 21, the gossip "heard by 7" 10.
  EXPECT_EQ(answer_to("P" + std::string(11, '\0')), std::vector<size_t>{12});
  EXPECT_EQ(answer_to("L" + rest + std::string(11, '\0')), std::vector<size_t>{21});
  EXPECT_EQ(answer_to("H" + rest + std::string(20, '\0')), std::vector<size_t>{21});
  EXPECT_EQ(answer_to("H" + rest + std::string(21, '\0')), std::vector<size_t>{31});
}

}  // namespace
}  // namespace neptune
