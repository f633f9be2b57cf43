// What is estimated after reports, assignments and answers; the correction; limits.

#include "neptune/dac/load_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("search");

// Estimates are plain sums of reported and assigned work.
LoadEstimatorOptions PlainSums() {
  return {.correction_share = 0,
          .relaxation_services = std::numeric_limits<double>::infinity(),
          .fellow_weight = 1};
}

class LoadEstimatorTest : public testing::Test {
 protected:
  void Report(const char* node, Duration pending, LoadSource source = LoadSource::kPoll) {
    book_.OnReport(NodeId(node), kService, {.pending = pending}, now_, source);
  }
  void Assign(const char* node, Duration work) { book_.OnAssigned(NodeId(node), work, now_); }
  Duration Estimate(const char* node) {
    return book_.Estimate(NodeId(node), kService, now_, random_);
  }
  Duration Estimate(const LoadEstimator& book, const char* node) {
    return book.Estimate(NodeId(node), kService, now_, random_);
  }

  RandomSource random_{1};
  LoadEstimator book_{PlainSums()};
  TimePoint now_{seconds(100)};
};

TEST_F(LoadEstimatorTest, ReportIsBelieved) {
  Report("a", milliseconds(30));
  EXPECT_EQ(Estimate("a"), milliseconds(30));
}

TEST_F(LoadEstimatorTest, NewerReportReplacesTheOlder) {
  Report("a", milliseconds(30));
  now_ += milliseconds(1);
  Report("a", milliseconds(10), LoadSource::kAnnouncement);
  EXPECT_EQ(Estimate("a"), milliseconds(10));
}

// Counts the pending work of polls only.
class PolledLoads final : public LoadEstimator {
 public:
  PolledLoads() : LoadEstimator(PlainSums()) {}

 protected:
  bool CountsPending(LoadSource source) const override { return source == LoadSource::kPoll; }
};

TEST_F(LoadEstimatorTest, ReportWhosePendingWorkDoesNotCountStillReportsCosts) {
  PolledLoads book;
  book.OnReport(NodeId("a"), kService, {.pending = milliseconds(30)}, now_, LoadSource::kPoll);
  book.OnReport(NodeId("a"), kService, {.pending = milliseconds(10), .local_cost = milliseconds(7)},
                now_, LoadSource::kAnswer);
  book.OnReport(NodeId("a"), kService, {.pending = milliseconds(20)}, now_, LoadSource::kGossip);
  EXPECT_EQ(Estimate(book, "a"), milliseconds(30));
  EXPECT_EQ(book.Costs(NodeId("a"), kService).local_cost, milliseconds(7));
}

TEST_F(LoadEstimatorTest, OlderReportIsDropped) {
  Report("a", milliseconds(30));
  now_ -= milliseconds(1);
  Report("a", milliseconds(10));
  EXPECT_EQ(Estimate("a"), milliseconds(30));
}

TEST_F(LoadEstimatorTest, OwnAssignmentsAreAdded) {
  Report("a", milliseconds(30));
  Assign("a", milliseconds(5));
  Assign("a", milliseconds(5));
  EXPECT_EQ(Estimate("a"), milliseconds(40));
}

TEST_F(LoadEstimatorTest, AnswerReplacesAssignments) {
  Report("a", milliseconds(30));
  Assign("a", milliseconds(50));
  Report("a", milliseconds(20), LoadSource::kAnswer);
  EXPECT_EQ(Estimate("a"), milliseconds(20));
}

TEST_F(LoadEstimatorTest, SettledWorkIsTakenOff) {
  Report("a", milliseconds(30));
  Assign("a", milliseconds(8));
  book_.OnSettled(NodeId("a"), milliseconds(8), now_);
  EXPECT_EQ(Estimate("a"), milliseconds(30));
  book_.OnSettled(NodeId("a"), milliseconds(8), now_);
  EXPECT_EQ(Estimate("a"), milliseconds(30)) << "settled twice";
}

TEST_F(LoadEstimatorTest, SilentServerGrowsHeavyWhateverItAnnounces) {
  for (int i = 0; i < 10; ++i) {
    Assign("a", milliseconds(20));
    now_ += milliseconds(10);
    Report("a", Duration(0), LoadSource::kAnnouncement);
    Report("a", Duration(0), LoadSource::kPoll);
  }
  EXPECT_GT(Estimate("a"), milliseconds(190));
}

TEST_F(LoadEstimatorTest, AnswerEndsTheFloorOfASilentServer) {
  for (int i = 0; i < 10; ++i) Assign("a", milliseconds(20));
  Report("a", milliseconds(1), LoadSource::kAnswer);
  EXPECT_EQ(Estimate("a"), milliseconds(1));
}

TEST_F(LoadEstimatorTest, SilentServerIsForgivenWithTime) {
  Assign("a", milliseconds(80));
  Report("a", Duration(0));
  now_ += seconds(30);  // three half-lives
  EXPECT_NEAR(ToMillis(Estimate("a")), 10, 0.01);
}

TEST_F(LoadEstimatorTest, UnknownNodeHasTheMean) {
  Report("a", milliseconds(10));
  Report("b", milliseconds(20));
  EXPECT_EQ(Estimate("c"), milliseconds(15));
  Assign("c", milliseconds(2));
  EXPECT_EQ(Estimate("c"), milliseconds(17));
}

TEST_F(LoadEstimatorTest, NothingIsKnownAtFirst) { EXPECT_EQ(Estimate("a"), Duration(0)); }

TEST_F(LoadEstimatorTest, HungServerDoesNotSpoilTheMean) {
  for (const char* node : {"a", "b", "c", "d", "e", "f", "g", "h"}) Report(node, milliseconds(10));
  Report("h", hours(1));
  EXPECT_LE(book_.mean_pending(), milliseconds(14));
}

TEST_F(LoadEstimatorTest, AbsurdWorkIsBounded) {
  Report("a", Duration::max());
  Assign("a", Duration::max());
  EXPECT_EQ(Estimate("a"), hours(1));
  Report("b", -seconds(1));
  Assign("b", -seconds(1));
  EXPECT_EQ(Estimate("b"), Duration(0));
}

TEST_F(LoadEstimatorTest, ForgottenNodeIsUnknown) {
  Report("a", milliseconds(10));
  Report("b", milliseconds(30));
  book_.Forget(NodeId("b"));
  book_.Forget(NodeId("never heard of"));
  EXPECT_EQ(book_.node_count(), 1u);
  EXPECT_EQ(Estimate("b"), milliseconds(10)) << "the mean of the rest";
}

TEST_F(LoadEstimatorTest, NodesAreBoundedAndTheLeastRecentlyUsedLeave) {
  for (size_t i = 0; i < kBookedNodeCountMax; ++i) {
    book_.OnReport(NodeId(StrCat("n", i)), kService, {.pending = milliseconds(10)}, now_,
                   LoadSource::kPoll);
  }
  Assign("n0", milliseconds(7));
  Report("one more", milliseconds(10));
  EXPECT_EQ(book_.node_count(), kBookedNodeCountMax);
  EXPECT_EQ(Estimate("n0"), milliseconds(17)) << "used just now";
  Assign("n2", milliseconds(1));
  EXPECT_EQ(Estimate("n2"), milliseconds(11));
  EXPECT_EQ(book_.mean_pending(), milliseconds(10));
}

TEST_F(LoadEstimatorTest, NodesThatComeAndGoLeaveSumsRight) {
  std::map<int, Duration> model;
  for (int i = 0; i < 2000; ++i) {
    const int node = static_cast<int>(random_.Below(20));
    const NodeId id(StrCat("n", node));
    now_ += milliseconds(1);
    if (random_.Below(4) == 0) {
      book_.Forget(id);
      model.erase(node);
    } else {
      model[node] = milliseconds(10 + random_.Below(5));
      book_.OnReport(id, kService, {model[node], model[node], model[node] * 2}, now_,
                     LoadSource::kAnswer);
    }
    if (model.empty()) continue;
    Duration sum{0};
    for (const auto& [known, pending] : model) sum += pending;
    const auto count = static_cast<int64_t>(model.size());
    ASSERT_EQ(book_.node_count(), model.size());
    ASSERT_EQ(book_.mean_pending(), sum / count);
    const OperatorCosts unknown = book_.Costs(NodeId("unknown"), kService);
    ASSERT_EQ(unknown.local_cost, sum / count);
    ASSERT_EQ(unknown.reduce_cost, 2 * sum / count);
  }
}

TEST_F(LoadEstimatorTest, CostsBelongToAServiceOnANode) {
  const ServiceName other("blast");
  book_.OnReport(NodeId("a"), kService, {Duration(0), milliseconds(4), milliseconds(1)}, now_,
                 LoadSource::kAnswer);
  book_.OnReport(NodeId("a"), other, {Duration(0), milliseconds(90), milliseconds(2)}, now_,
                 LoadSource::kAnswer);
  EXPECT_EQ(book_.Costs(NodeId("a"), kService).local_cost, milliseconds(4));
  EXPECT_EQ(book_.Costs(NodeId("a"), other).local_cost, milliseconds(90));
  EXPECT_EQ(book_.Costs(NodeId("a"), other).reduce_cost, milliseconds(2));
}

// One of two equal nodes measured a small cost by chance; its repeated reports gain weight.
TEST_F(LoadEstimatorTest, WeightOfOwnCostsGrowsWithTheNumberOfReports) {
  const auto hear = [&](const std::string& node, Duration reduce) {
    book_.OnReport(NodeId(node), kService, {Duration(0), milliseconds(4), reduce}, now_,
                   LoadSource::kAnswer);
    return book_.Costs(NodeId("a"), kService).reduce_cost;
  };
  hear("b", milliseconds(10));
  EXPECT_EQ(hear("a", milliseconds(1)), microseconds(5500) - microseconds(4500) / 9);
  EXPECT_EQ(hear("a", milliseconds(1)), microseconds(5000)) << "nothing new";
  for (int i = 0; i < 1000; ++i) hear("a", milliseconds(1) + microseconds(i % 2));
  EXPECT_NEAR(ToMillis(book_.Costs(NodeId("a"), kService).reduce_cost), 1, 0.05);
}

TEST_F(LoadEstimatorTest, UnknownCostsAreTheMeanOfTheKnown) {
  book_.OnReport(NodeId("a"), kService, {Duration(0), milliseconds(4), Duration(0)}, now_,
                 LoadSource::kAnswer);
  book_.OnReport(NodeId("b"), kService, {Duration(0), milliseconds(8), milliseconds(3)}, now_,
                 LoadSource::kAnswer);
  EXPECT_EQ(book_.Costs(NodeId("c"), kService).local_cost, milliseconds(6));
  EXPECT_EQ(book_.Costs(NodeId("a"), kService).reduce_cost, milliseconds(3));
  EXPECT_EQ(book_.Costs(NodeId("a"), ServiceName("new")).local_cost,
            LoadEstimatorOptions().default_costs.local_cost);
}

TEST_F(LoadEstimatorTest, ReportWithoutCostsKeepsThem) {
  book_.OnReport(NodeId("a"), kService, {Duration(0), milliseconds(4), milliseconds(1)}, now_,
                 LoadSource::kAnswer);
  Report("a", milliseconds(3));
  EXPECT_EQ(book_.Costs(NodeId("a"), kService).local_cost, milliseconds(4));
}

TEST_F(LoadEstimatorTest, CostsOfTooManyServicesAreNotKept) {
  for (size_t i = 0; i <= kBookedServiceCountMax; ++i) {
    book_.OnReport(NodeId("a"), ServiceName(StrCat("s", i)), {Duration(0), seconds(1), seconds(1)},
                   now_, LoadSource::kAnswer);
  }
  EXPECT_EQ(book_.Costs(NodeId("a"), ServiceName("s0")).local_cost, seconds(1));
  EXPECT_EQ(book_.Costs(NodeId("a"), ServiceName(StrCat("s", kBookedServiceCountMax))).local_cost,
            LoadEstimatorOptions().default_costs.local_cost);
}

// Mean and deviation of estimates of a node that reported 10 ms, as eleven others did, some time
// ago.
struct Spread {
  double mean_ms;
  double deviation_ms;
};

// Relaxation time of a service whose costs are unknown.
const double kRelaxationMs = LoadEstimatorOptions().relaxation_services *
                             ToMillis(LoadEstimatorOptions().default_costs.local_cost);

Spread SpreadAfter(Duration age, LoadEstimatorOptions options = {}) {
  RandomSource random(9);
  LoadEstimator book(options);
  const TimePoint start{seconds(1)};
  for (int i = 0; i < 12; ++i) {
    book.OnReport(NodeId(StrCat("n", i)), kService, {.pending = milliseconds(10)}, start,
                  LoadSource::kAnnouncement);
  }
  double sum = 0;
  double square_sum = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double estimate = ToMillis(book.Estimate(NodeId("n3"), kService, start + age, random));
    sum += estimate;
    square_sum += estimate * estimate;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(square_sum / kDraws - mean * mean)};
}

TEST(LoadCorrectionTest, FreshReportIsTakenAsItIs) {
  EXPECT_NEAR(SpreadAfter(Duration(0)).deviation_ms, 0, 1e-3);
}

TEST(LoadCorrectionTest, DeviationGrowsWithAge) {
  const LoadEstimatorOptions options = {.correction_share = 0.5};
  double last = 0;
  for (const int age_ms : {1, 5, 10, 20, 40, 80}) {
    const Spread spread = SpreadAfter(milliseconds(age_ms), options);
    EXPECT_NEAR(spread.mean_ms, 10, 0.2);
    EXPECT_GT(spread.deviation_ms, last * 1.02) << age_ms;
    EXPECT_NEAR(spread.deviation_ms, 5 * std::sqrt(1 - std::exp(-2 * age_ms / kRelaxationMs)), 0.1);
    last = spread.deviation_ms;
  }
}

TEST(LoadCorrectionTest, DeviationSaturates) {
  const LoadEstimatorOptions options = {.correction_share = 0.5};
  EXPECT_NEAR(SpreadAfter(seconds(5), options).deviation_ms, 5, 0.1);
  EXPECT_NEAR(SpreadAfter(hours(1000), options).deviation_ms, 5, 0.1);
}

TEST(LoadCorrectionTest, EstimateIsNeverNegative) {
  RandomSource random(3);
  LoadEstimator book;
  book.OnReport(NodeId("a"), kService, {.pending = seconds(1)}, TimePoint(), LoadSource::kPoll);
  book.OnReport(NodeId("b"), kService, {}, TimePoint(), LoadSource::kPoll);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_GE(book.Estimate(NodeId("b"), kService, TimePoint(seconds(9)), random), Duration(0));
  }
}

// Between two announcements callers that follow the reports all pick the same server; corrected
// ones do not. An answer is as of the moment when the server sent it, which may be long before the
// whole tree has answered.
TEST_F(LoadEstimatorTest, ReportKeepsWhatWasAssignedAfterItWasTaken) {
  Assign("a", milliseconds(30));
  now_ += milliseconds(10);
  const TimePoint taken_at = now_;
  now_ += milliseconds(10);
  Assign("a", milliseconds(7));
  now_ += milliseconds(10);
  book_.OnReport(NodeId("a"), kService, {.pending = milliseconds(5)}, taken_at,
                 LoadSource::kAnswer);
  EXPECT_EQ(Estimate("a"), milliseconds(12));
}

TEST_F(LoadEstimatorTest, TimesOfManyAssignmentsAreTakenTogether) {
  for (size_t i = 0; i < 3 * kBookedAssignmentCountMax; ++i) Assign("a", milliseconds(1));
  EXPECT_EQ(Estimate("a"), milliseconds(3 * kBookedAssignmentCountMax));
  book_.OnSettled(NodeId("a"), milliseconds(kBookedAssignmentCountMax), now_);
  EXPECT_EQ(Estimate("a"), milliseconds(2 * kBookedAssignmentCountMax));
  Report("a", milliseconds(1), LoadSource::kAnswer);
  EXPECT_EQ(Estimate("a"), milliseconds(1));
}

TEST(LoadCorrectionTest, CallersWithOldReportsDoNotFlock) {
  RandomSource random(4);
  const auto share_of_lightest = [&random](double correction_share) {
    LoadEstimator book({.correction_share = correction_share});
    for (int i = 0; i < 10; ++i) {
      book.OnReport(NodeId(StrCat("n", i)), kService, {.pending = milliseconds(5 + i)},
                    TimePoint(seconds(1)), LoadSource::kAnnouncement);
    }
    const TimePoint later = TimePoint(seconds(1)) + milliseconds(40);
    int lightest_picked = 0;
    for (int round = 0; round < 1000; ++round) {
      std::vector<Duration> estimates;
      for (int i = 0; i < 10; ++i) {
        estimates.push_back(book.Estimate(NodeId(StrCat("n", i)), kService, later, random));
      }
      lightest_picked += std::min_element(estimates.begin(), estimates.end()) == estimates.begin();
    }
    return lightest_picked;
  };
  EXPECT_EQ(share_of_lightest(0), 1000);
  EXPECT_LT(share_of_lightest(0.5), 450);
  EXPECT_GT(share_of_lightest(0.5), 100) << "it is still the likeliest";
}

// Six times the relaxation time is long enough.
TEST(LoadRelaxationTest, OldReportReturnsToWhatIsUsual) {
  RandomSource random(5);
  LoadEstimator book({.correction_share = 0});
  const auto report = [&](const char* node, int pending_ms, int at_ms) {
    book.OnReport(NodeId(node), kService, {.pending = milliseconds(pending_ms)},
                  TimePoint(milliseconds(at_ms)), LoadSource::kPoll);
  };
  for (int at = 0; at < 1000; ++at) {
    report("light", 10, at);
    report("heavy", 50, at);
  }
  report("light", 90, 1000);
  const auto estimate = [&](const char* node, Duration age) {
    return ToMillis(
        book.Estimate(NodeId(node), kService, TimePoint(milliseconds(1000)) + age, random));
  };
  EXPECT_NEAR(estimate("light", Duration(0)), 90, 0.1);
  EXPECT_NEAR(estimate("light", FromSeconds(1e-3 * kRelaxationMs)), 11.6 + 78.4 / M_E, 1);
  EXPECT_NEAR(estimate("light", FromSeconds(6e-3 * kRelaxationMs)), 11.6, 1);
  EXPECT_NEAR(estimate("heavy", FromSeconds(6e-3 * kRelaxationMs)), 50, 1);
}

TEST(LoadRelaxationTest, TimeGoesWithTheCostOfTheService) {
  LoadEstimator book;
  const ServiceName slow("slow");
  book.OnReport(NodeId("a"), kService, {milliseconds(9), milliseconds(1), Duration(0)}, TimePoint(),
                LoadSource::kAnswer);
  book.OnReport(NodeId("a"), slow, {milliseconds(9), milliseconds(100), Duration(0)}, TimePoint(),
                LoadSource::kAnswer);
  const TimePoint later(milliseconds(100));
  EXPECT_GT(book.Staleness(NodeId("a"), kService, later), 0.99);
  EXPECT_LT(book.Staleness(NodeId("a"), slow, later), 0.1);
  EXPECT_EQ(book.Staleness(NodeId("a"), slow, TimePoint()), 0);
  EXPECT_EQ(book.Staleness(NodeId("unknown"), slow, later), 1);
}

TEST(LoadRelaxationTest, AssignedWorkWeighsMoreAndFades) {
  RandomSource random(6);
  LoadEstimator book({.correction_share = 0});
  book.OnReport(NodeId("a"), kService, {.pending = milliseconds(10)}, TimePoint(),
                LoadSource::kPoll);
  book.OnAssigned(NodeId("a"), milliseconds(3), TimePoint());
  const auto estimate = [&](double age_ms) {
    return ToMillis(
        book.Estimate(NodeId("a"), kService, TimePoint(FromSeconds(1e-3 * age_ms)), random));
  };
  EXPECT_NEAR(estimate(0), 10 + 3 * LoadEstimatorOptions().fellow_weight, 1e-3);
  EXPECT_NEAR(estimate(kRelaxationMs), 10 + 3 * LoadEstimatorOptions().fellow_weight / M_E, 1e-2);
}

class PollTargetsTest : public LoadEstimatorTest {
 protected:
  PollTargetsTest() {
    for (int i = 0; i < 20; ++i) nodes_.emplace_back(StrCat("n", i));
  }
  std::vector<size_t> Choose(size_t count) {
    return book_.ChoosePollTargets(nodes_, count, now_, random_);
  }
  std::vector<NodeId> nodes_;
};

TEST_F(PollTargetsTest, FewOfManyAndNoneTwice) {
  for (int i = 0; i < 200; ++i) {
    const std::vector<size_t> targets = Choose(3);
    EXPECT_EQ(std::set<size_t>(targets.begin(), targets.end()).size(), 3u);
    for (const size_t target : targets) EXPECT_LT(target, nodes_.size());
  }
}

TEST_F(PollTargetsTest, AllIfFewerThanWanted) {
  nodes_.resize(2);
  EXPECT_EQ(Choose(5).size(), 2u);
  nodes_.clear();
  EXPECT_TRUE(Choose(5).empty());
}

TEST_F(PollTargetsTest, EveryoneIsAskedSometimesAndStaleOnesMore) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    book_.OnReport(nodes_[i], kService, {}, now_ - milliseconds(i < 10 ? 100 : 900),
                   LoadSource::kAnnouncement);
  }
  std::vector<int> asked(nodes_.size(), 0);
  for (int i = 0; i < 4000; ++i) {
    for (const size_t target : Choose(2)) ++asked[target];
  }
  EXPECT_GT(*std::min_element(asked.begin(), asked.end()), 100);
  const int stale = std::accumulate(asked.begin() + 10, asked.end(), 0);
  EXPECT_NEAR(stale, 6000, 400) << "three of four pairs have a stale one";
}

TEST_F(PollTargetsTest, FreshReportsAreNotPolledFor) {
  for (const NodeId& node : nodes_) book_.OnReport(node, kService, {}, now_, LoadSource::kAnswer);
  EXPECT_TRUE(Choose(5).empty());
  now_ += milliseconds(10);
  EXPECT_EQ(Choose(5).size(), 5u);
}

}  // namespace
}  // namespace neptune
