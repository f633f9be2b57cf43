// Nodes crash, hang and restart while queries run: no query fails, and every answer reports
// correctly what is missing.

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "index/core/testing/collection.h"
#include "neptune/base/strings.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/sim/sim_faults.h"
#include "tests/search_cluster/search_cluster.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using neptune::Duration;
using neptune::StatusOr;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kCorpusSeed = 5;
// Time limit for full recovery after a fault.
constexpr Duration kRecoveryTime = seconds(5);
// A hung node is removed after 5 s of silence and a probe of half a second; before that each query
// may still wait for it.
constexpr Duration kHungRecoveryTime = seconds(7);

// All tests share one read-only index.
class SearchFailureTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new index::TemporaryFolder;
    corpus_ = new SmallCorpus(MakeSmallCorpus(kCorpusSeed));
    placement_ = new Placement(*corpus_, {});
    const neptune::Status built = BuildSmallIndex(folder_->path(), *corpus_, *placement_);
    ASSERT_TRUE(built.ok()) << built;
    auto opened = AnswerOracle::Open(folder_->path(), *corpus_, *placement_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    oracle_ = opened->release();
  }
  static void TearDownTestSuite() {
    delete oracle_;
    delete placement_;
    delete corpus_;
    delete folder_;
  }

  void Start(uint64_t seed) {
    cluster_ = std::make_unique<SearchCluster>(seed, DevSpec(), folder_->path());
    random_.seed(seed);
  }

  std::string RandomQuery() {
    return index::RandomQuery(corpus_->documents, [this] { return random_(); });
  }

  // Asks fifty questions a second for `time` and checks that each answer is truthful. Questions
  // asked `settling` after the call or later must be answered and report exactly what the ledger
  // says.
  void AskFor(Duration time, Duration settling) {
    const TimePoint begin = cluster_->simulator().now();
    for (TimePoint at = begin; at < begin + time; at += milliseconds(20)) {
      ++outstanding_count_;
      cluster_->simulator().At(at, [this, settled = at >= begin + settling, query = RandomQuery()] {
        cluster_->StartSearch({.query = query},
                              [this, settled, query](const StatusOr<SearchAnswer>& answer) {
                                --outstanding_count_;
                                Take(query, answer, settled);
                              });
      });
    }
    cluster_->simulator().RunFor(time);
    cluster_->simulator().RunUntilTrue([this] { return outstanding_count_ == 0; },
                                       cluster_->simulator().now() + seconds(10));
    ASSERT_EQ(outstanding_count_, 0);
  }

  void Take(const std::string& query, const StatusOr<SearchAnswer>& answer, bool settled) {
    ++asked_count_;
    if (!answer.ok()) {
      ++failed_count_;
      EXPECT_FALSE(settled) << When() << "query '" << query << "' failed: " << answer.status();
      return;
    }
    EXPECT_EQ(oracle_->Check(*answer), "") << When();
    if (!answer->coverage.complete()) ++partial_count_;
    if (!settled) return;
    EXPECT_EQ(ToString(ClaimedMissing(*answer)),
              ToString(oracle_->MustClaim(*answer, cluster_->Dead())))
        << When() << "query '" << query << "'";
  }

  std::string When() {
    return neptune::StrCat("seed ", cluster_->simulator().seed(), " at ",
                           neptune::ToMillis(cluster_->simulator().now().time_since_epoch()),
                           " ms: ");
  }

  static index::TemporaryFolder* folder_;
  static SmallCorpus* corpus_;
  static Placement* placement_;
  static AnswerOracle* oracle_;

  std::mt19937_64 random_;
  std::unique_ptr<SearchCluster> cluster_;
  int outstanding_count_ = 0;
  int asked_count_ = 0;
  int failed_count_ = 0;
  int partial_count_ = 0;
};

index::TemporaryFolder* SearchFailureTest::folder_ = nullptr;
SmallCorpus* SearchFailureTest::corpus_ = nullptr;
Placement* SearchFailureTest::placement_ = nullptr;
AnswerOracle* SearchFailureTest::oracle_ = nullptr;

TEST_F(SearchFailureTest, AnyOneNodeMayBeKilled) {
  Start(31);
  AskFor(seconds(1), Duration(0));
  for (const std::string& node : cluster_->node_names()) {
    SCOPED_TRACE(node);
    cluster_->Kill(node);
    AskFor(seconds(8), kRecoveryTime);
    cluster_->Restart(node);
    AskFor(seconds(3), seconds(2));
  }
  EXPECT_EQ(failed_count_, 0) << "of " << asked_count_;
}

TEST_F(SearchFailureTest, AnyOneNodeMayHang) {
  Start(32);
  for (const std::string& node : cluster_->node_names()) {
    SCOPED_TRACE(node);
    cluster_->Pause(node);
    AskFor(seconds(10), kHungRecoveryTime);
    cluster_->Resume(node);
    AskFor(seconds(4), seconds(3));
  }
  EXPECT_EQ(failed_count_, 0) << "of " << asked_count_;
}

TEST_F(SearchFailureTest, WithBothReplicasDeadAnswersSayExactlyWhatIsMissing) {
  Start(33);
  cluster_->Kill("store-1");
  cluster_->Kill("store-3");
  ASSERT_EQ(ToString(cluster_->Dead()), "tier1 1, tier2 3, documents 0");
  AskFor(seconds(10), kRecoveryTime);
  EXPECT_EQ(failed_count_, 0);
  EXPECT_GT(partial_count_, 400);
  cluster_->Restart("store-3");
  ASSERT_EQ(ToString(cluster_->Dead()), "tier1 -, tier2 -, documents -");
  AskFor(seconds(4), seconds(2));
}

TEST_F(SearchFailureTest, WithoutAnyIndexPartitionTheSearchIsUnavailable) {
  Start(34);
  for (const char* node : {"store-1", "store-2", "store-3", "store-4"}) cluster_->Kill(node);
  cluster_->simulator().RunFor(seconds(7));
  const auto response = cluster_->Get("web-1", "/search?q=index&format=json");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 503);
  EXPECT_TRUE(response->headers.Has("Retry-After"));
  EXPECT_NE(response->body.find("no live replica"), std::string::npos) << response->body;
  EXPECT_EQ(cluster_->Get("web-1", "/readyz")->status, 503);
  for (const char* node : {"store-1", "store-2", "store-3", "store-4"}) cluster_->Restart(node);
  AskFor(seconds(4), seconds(2));
}

TEST_F(SearchFailureTest, LostDatagramsCostNoAnswer) {
  Start(35);
  neptune::LinkConditions lossy = cluster_->simulator().links();
  lossy.datagram_loss = 0.2;
  cluster_->simulator().SetLinks(lossy);
  AskFor(seconds(20), Duration(0));
  EXPECT_EQ(failed_count_, 0);
}

// Random crashes, hangs, network partitions, slow links and lost datagrams, several at once. During
// faults an answer may be partial or fail, but its claims are true; afterwards all answers are
// complete.
TEST_F(SearchFailureTest, RandomFaultsNeverMakeAnAnswerUntruthful) {
  for (uint64_t seed = 100; seed < 105; ++seed) {
    SCOPED_TRACE(seed);
    Start(seed);
    neptune::RandomFaultOptions options;
    options.hosts = cluster_->node_names();
    options.begin = cluster_->simulator().now() + seconds(1);
    options.horizon = options.begin + seconds(40);
    options.hosts_down_max = 2;
    options.interval_mean = seconds(2);
    using Kind = neptune::Fault::Kind;
    options.kinds = {Kind::kCrash,          Kind::kPause,   Kind::kCut,         Kind::kCutOneWay,
                     Kind::kSlowProcessors, Kind::kLatency, Kind::kDatagramLoss};
    neptune::ScheduleFaults(cluster_->simulator(),
                            neptune::DrawFaults(cluster_->simulator().random(), options));
    AskFor(seconds(53), seconds(49));
  }
  EXPECT_GT(asked_count_, 13'000);
  EXPECT_GT(partial_count_, 100);
  EXPECT_LT(failed_count_, asked_count_ / 10);
  RecordProperty("failed", failed_count_);
  RecordProperty("partial", partial_count_);
}

}  // namespace
}  // namespace search::tests
