// What the pool records, prefers and avoids.

#include "neptune/balancing/probe_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<NodeId> Nodes(std::initializer_list<const char*> names) {
  return std::vector<NodeId>(names.begin(), names.end());
}

class ProbePoolTest : public testing::Test {
 protected:
  ProbePoolTest() { pool_.SetServers(Nodes({"a", "b", "c", "d"})); }

  size_t Choose(std::vector<size_t> excluded = {}) { return pool_.Choose(now_, excluded, random_); }
  void Report(size_t server, uint32_t load, Duration silence = Duration(0)) {
    pool_.OnReport(server, {load, silence}, now_);
  }
  void Answer(size_t server, uint32_t load, Duration run_time = milliseconds(10)) {
    pool_.OnAnswer(server, load, run_time, /*worked=*/true, now_);
  }
  void Fail(size_t server) { pool_.OnAnswer(server, 0, milliseconds(1), /*worked=*/false, now_); }
  uint32_t AnyLoad() { return static_cast<uint32_t>(random_.Below(3)); }
  // Answers the probes requested by a call as if all servers were alike.
  void AnswerProbes() {
    for (const size_t probed : pool_.ChooseProbes(random_)) Report(probed, AnyLoad());
  }
  // Returns how often each server is chosen if every call is answered within a millisecond and
  // fails with probability `failures`.
  std::array<int, 4> Shares(int calls, double failures = 0) {
    std::array<int, 4> shares{};
    for (int i = 0; i < calls; ++i) {
      const size_t chosen = Choose();
      ++shares[chosen];
      AnswerProbes();
      now_ += milliseconds(1);
      if (random_.Uniform() < failures) {
        Fail(chosen);
      } else {
        Answer(chosen, AnyLoad());
      }
    }
    return shares;
  }

  RandomSource random_{1};
  ProbePool pool_;
  TimePoint now_{seconds(100)};
};

TEST_F(ProbePoolTest, ReportWithTheLowestLoadIsTaken) {
  Report(0, 3);
  Report(1, 1);
  Report(2, 2);
  EXPECT_EQ(Choose(), 1u);
}

TEST_F(ProbePoolTest, ReportServesOneCall) {
  Report(0, 3);
  Report(1, 1);
  EXPECT_EQ(Choose(), 1u);
  EXPECT_EQ(Choose(), 0u) << "b's report has been used";
}

TEST_F(ProbePoolTest, AnswerOfACallIsAReport) {
  Report(0, 3);
  Choose();
  Answer(0, 2);
  EXPECT_EQ(pool_.report_count(), 1u);
  EXPECT_EQ(Choose(), 0u);
}

TEST_F(ProbePoolTest, NewerReportReplacesTheOlder) {
  Report(0, 0);
  Report(1, 2);
  Report(0, 5);
  EXPECT_EQ(pool_.report_count(), 2u);
  EXPECT_EQ(Choose(), 1u);
}

TEST_F(ProbePoolTest, AgeCountsAgainstAReport) {
  for (int i = 0; i < 4; ++i) Answer(0, 0);  // the service takes 10 ms
  Report(1, 1);
  Report(0, 9);
  now_ += milliseconds(50);  // five service times are 2.5 requests
  Report(2, 3);
  EXPECT_EQ(Choose(), 2u);
}

TEST_F(ProbePoolTest, OldReportIsForgotten) {
  Report(0, 0);
  now_ += seconds(6);
  Choose();
  EXPECT_EQ(pool_.report_count(), 0u);
}

TEST_F(ProbePoolTest, SlowServerNeedsAShorterQueue) {
  for (int i = 0; i < 100; ++i) {
    Answer(0, 1, milliseconds(30));
    Answer(1, 1, milliseconds(10));
  }
  Report(0, 2);
  Report(1, 3);
  EXPECT_EQ(Choose(), 1u);
}

TEST_F(ProbePoolTest, ExcludedServerIsNotChosen) {
  Report(0, 0);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Choose({0, 1, 3}), 2u);
}

TEST_F(ProbePoolTest, OwnNodeIsChosenWhileItIsNotLoadedMore) {
  const auto choose = [&](uint32_t own_load) {
    Report(0, 3);
    Report(1, 3);
    Report(2, 4);
    Report(3, 5);
    return pool_.Choose(now_, {}, random_, {.local = ProbePool::Local{2, own_load}});
  };
  EXPECT_EQ(choose(0), 2u);
  EXPECT_EQ(choose(3), 2u);
  EXPECT_NE(choose(4), 2u);
}

TEST_F(ProbePoolTest, OwnNodeThatFailsOrHangsIsNotPreferred) {
  for (int i = 0; i < 20; ++i) {
    Answer(0, 2);
    Fail(2);
  }
  EXPECT_EQ(pool_.Choose(now_, {}, random_, {.local = ProbePool::Local{2, 0}}), 0u);
  now_ += seconds(60);
  Answer(0, 2);
  EXPECT_EQ(pool_.Choose(now_, {}, random_, {.local = ProbePool::Local{2, 0}}), 2u)
      << "failures are forgotten";
  Answer(0, 2);
  Report(2, 0, /*silence=*/seconds(10));
  EXPECT_EQ(pool_.Choose(now_, {}, random_, {.local = ProbePool::Local{2, 0}}), 0u);
}

TEST_F(ProbePoolTest, SlowOwnNodeNeedsAShorterQueue) {
  for (int i = 0; i < 200; ++i) {
    Answer(0, 0, milliseconds(10));
    Answer(1, 0, milliseconds(10));
    Answer(2, 0, milliseconds(40));
  }
  Report(0, 3);
  Report(2, 3);
  EXPECT_EQ(
      pool_.Choose(now_, std::vector<size_t>{1, 3}, random_, {.local = ProbePool::Local{2, 3}}),
      0u);
  Report(0, 3);
  EXPECT_EQ(
      pool_.Choose(now_, std::vector<size_t>{1, 3}, random_, {.local = ProbePool::Local{2, 0}}),
      2u);
}

class PreferredServerTest : public ProbePoolTest {
 protected:
  PreferredServerTest() { BeServedIn(std::chrono::microseconds(200)); }

  void BeServedIn(Duration service_time) {
    for (int i = 0; i < 2000; ++i) Answer(static_cast<size_t>(i % 4), 0, service_time);
  }
  size_t ChoosePreferring(std::vector<size_t> preferred, std::vector<size_t> excluded = {}) {
    return pool_.Choose(now_, excluded, random_, {.preferred = preferred});
  }
  void ReportAll(std::array<uint32_t, 4> loads) {
    for (size_t i = 0; i < loads.size(); ++i) Report(i, loads[i]);
  }
};

TEST_F(PreferredServerTest, IsChosenWhileItHasAtMostOneRequestMore) {
  ReportAll({2, 3, 9, 9});
  EXPECT_EQ(ChoosePreferring({1}), 1u);
  ReportAll({2, 4, 9, 9});
  EXPECT_EQ(ChoosePreferring({1}), 0u);
}

TEST_F(PreferredServerTest, LightestOfSeveralIsChosen) {
  ReportAll({2, 3, 2, 9});
  EXPECT_EQ(ChoosePreferring({1, 2}), 2u);
}

TEST_F(PreferredServerTest, IsNotChosenIfItWasTried) {
  ReportAll({5, 0, 5, 1});
  EXPECT_EQ(ChoosePreferring({1}, {1}), 3u);
}

TEST_F(PreferredServerTest, IsNotChosenIfItFailsOrHangs) {
  for (int i = 0; i < 20; ++i) Fail(1);
  ReportAll({0, 0, 5, 5});
  EXPECT_EQ(ChoosePreferring({1}), 0u);
  ReportAll({0, 5, 5, 5});
  Report(2, 0, /*silence=*/seconds(10));
  EXPECT_EQ(ChoosePreferring({2}), 0u);
}

TEST_F(PreferredServerTest, LongRequestsOfACallAreSpread) {
  BeServedIn(milliseconds(50));
  ReportAll({2, 3, 9, 9});
  EXPECT_EQ(ChoosePreferring({1}), 0u);
}

TEST_F(ProbePoolTest, ServiceThatHasNotAnsweredYetIsSpread) {
  Report(0, 0);
  const std::vector<size_t> preferred = {1};
  EXPECT_EQ(pool_.Choose(now_, {}, random_, {.preferred = preferred}), 0u);
}

TEST_F(ProbePoolTest, ChoicesOfOneCallAreProbedForAsOne) {
  Answer(0, 0, milliseconds(10));
  size_t probed_count = 0;
  for (int i = 0; i < 400; ++i) probed_count += pool_.ChooseProbes(random_, 1.0 / 4).size();
  EXPECT_NEAR(static_cast<double>(probed_count), 150, 2) << "1.5 for each of a hundred calls";
}

TEST_F(ProbePoolTest, ServerThatFailsAtOnceIsLeftAlone) {
  for (int i = 0; i < 10; ++i) Fail(0);
  int failures = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t chosen = Choose();
    AnswerProbes();
    now_ += milliseconds(1);
    if (chosen == 0) {
      ++failures;
      Fail(0);
    } else {
      Answer(chosen, 3);
    }
  }
  EXPECT_LE(failures, 10) << "a fair share would be 250";
}

TEST_F(ProbePoolTest, FailuresAreForgotten) {
  for (int i = 0; i < 10; ++i) Fail(0);
  now_ += seconds(30);
  EXPECT_GT(Shares(400)[0], 40);
}

TEST_F(ProbePoolTest, FailuresThatAllServersHaveExcludeNone) {
  const std::array<int, 4> shares = Shares(4000, 0.1);
  for (const int share : shares) EXPECT_NEAR(share, 1000, 250);
}

TEST_F(ProbePoolTest, HungServerThatAnswersProbesIsLeftAlone) {
  Answer(1, 1);
  Report(0, 0, seconds(1));
  for (int i = 0; i < 100; ++i) {
    const size_t chosen = Choose();
    EXPECT_NE(chosen, 0u);
    Answer(chosen, 1);
  }
  Report(0, 0);
  EXPECT_EQ(Choose({1, 2, 3}), 0u) << "it makes progress again";
}

TEST_F(ProbePoolTest, ServerThatDoesNotAnswerCallsIsLeftAlone) {
  Report(0, 0);
  EXPECT_EQ(Choose(), 0u);
  now_ += seconds(1);
  Report(0, 0);
  for (int i = 0; i < 100; ++i) {
    const size_t chosen = Choose();
    EXPECT_NE(chosen, 0u);
    Answer(chosen, 1);
  }
}

TEST_F(ProbePoolTest, SilentServersAreCalledIfThereIsNoOther) {
  for (size_t i = 0; i < 4; ++i) Report(i, 0, seconds(1));
  EXPECT_LT(Choose(), 4u);
}

TEST_F(ProbePoolTest, JoinedServerDoesNotAttractAllCalls) {
  Shares(100);
  pool_.SetServers(Nodes({"a", "b", "bb", "c", "d"}));
  int share = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t chosen = Choose();
    share += chosen == 2;
    now_ += milliseconds(1);
    Answer(chosen, 1);
    for (const size_t probed : pool_.ChooseProbes(random_)) Report(probed, probed == 2 ? 0 : 1);
  }
  EXPECT_LT(share, 450) << "a fair share would be 200, although it always looks idle";
}

TEST_F(ProbePoolTest, StateOfAServerSurvivesChangesOfOthers) {
  Report(1, 0);
  Report(3, 5);
  pool_.SetServers(Nodes({"b", "ba", "d"}));
  EXPECT_EQ(pool_.report_count(), 2u);
  EXPECT_EQ(Choose(), 0u);
  EXPECT_EQ(Choose(), 2u);
}

TEST_F(ProbePoolTest, ReturningServerIsKnownAsSlow) {
  for (int i = 0; i < 100; ++i) {
    Answer(0, 1, milliseconds(30));
    Answer(1, 1, milliseconds(10));
  }
  pool_.SetServers(Nodes({"b", "c", "d"}));
  pool_.SetServers(Nodes({"a", "b", "c", "d"}));
  Report(0, 2);
  Report(1, 3);
  EXPECT_EQ(Choose(), 1u);
}

TEST_F(ProbePoolTest, ServersAreFoundWhereverTheyMove) {
  const ProbePool::ServerId b = pool_.id(1);
  const ProbePool::ServerId c = pool_.id(2);
  pool_.SetServers(Nodes({"0", "a", "c"}));
  EXPECT_EQ(pool_.Find(c), 2u);
  EXPECT_EQ(pool_.Find(b), std::nullopt);
  pool_.SetServers(Nodes({"a", "b", "c"}));
  EXPECT_EQ(pool_.Find(b), std::nullopt) << "calls made before it left do not count";
}

TEST_F(ProbePoolTest, ProbesGoRoundAllServers) {
  std::map<size_t, int> probed;
  for (int i = 0; i < 800; ++i) {
    for (const size_t server : pool_.ChooseProbes(random_)) ++probed[server];
  }
  ASSERT_EQ(probed.size(), 4u);
  for (const auto& [server, count] : probed) EXPECT_NEAR(count, 300, 1) << "1.5 a call";
}

TEST_F(ProbePoolTest, FastServiceIsProbedLess) {
  for (int i = 0; i < 4; ++i) Answer(0, 1, std::chrono::microseconds(50));
  size_t count = 0;
  for (int i = 0; i < 1000; ++i) count += pool_.ChooseProbes(random_).size();
  EXPECT_NEAR(static_cast<double>(count), 100, 1);
}

TEST_F(ProbePoolTest, ReportsAreBounded) {
  std::vector<NodeId> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(StrCat("n", 100 + i));
  pool_.SetServers(many);
  for (size_t i = 0; i < 100; ++i) {
    now_ += milliseconds(1);
    Report(i, 5);
  }
  EXPECT_EQ(pool_.report_count(), kReportCountMax);
  EXPECT_GE(Choose(), 100 - kReportCountMax) << "the newest reports are kept";
}

TEST_F(ProbePoolTest, OneServerIsAlwaysChosen) {
  pool_.SetServers(Nodes({"a"}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Choose(), 0u);
  EXPECT_EQ(Choose({0}), 0u) << "better than no server";
}

TEST_F(ProbePoolTest, RefreshIntervalFollowsTheServiceTime) {
  EXPECT_EQ(pool_.RefreshInterval(now_), std::nullopt) << "there is no data yet";
  Answer(Choose(), 0, milliseconds(100));
  EXPECT_EQ(pool_.RefreshInterval(now_), milliseconds(20));
}

TEST_F(ProbePoolTest, RefreshIntervalHasAMinimum) {
  Answer(Choose(), 0, milliseconds(10));
  EXPECT_EQ(pool_.RefreshInterval(now_), milliseconds(5));
}

TEST_F(ProbePoolTest, FastServiceIsNotRefreshed) {
  Answer(Choose(), 0, milliseconds(4));
  EXPECT_EQ(pool_.RefreshInterval(now_), std::nullopt);
}

TEST_F(ProbePoolTest, RefreshingEndsSomeTimeAfterTheLastCall) {
  Answer(Choose(), 0, milliseconds(10));
  now_ += milliseconds(100);
  EXPECT_NE(pool_.RefreshInterval(now_), std::nullopt);
  now_ += milliseconds(1);
  EXPECT_EQ(pool_.RefreshInterval(now_), std::nullopt);
}

TEST_F(ProbePoolTest, RefreshIsWantedOnceTheNewestReportIsOld) {
  Answer(Choose(), 0, milliseconds(10));
  EXPECT_FALSE(pool_.WantsRefresh(now_));
  now_ += milliseconds(1);
  EXPECT_TRUE(pool_.WantsRefresh(now_));
  Report(2, 0);
  EXPECT_FALSE(pool_.WantsRefresh(now_));
}

}  // namespace
}  // namespace neptune
