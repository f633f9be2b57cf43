#include "neptune/dac/aggregation_children.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/calling_node.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Turn = Reductions::Turn;

// A server that accepts connections and never answers; it closes those on which it was sent
// something, unless it is `silent`.
class DumbServer final : public StreamHandler {
 public:
  DumbServer(CallingNode& node, const Endpoint& at, bool silent) : silent_(silent) {
    node.OnLoop([&] {
      listener_ =
          *node.loop().loop->network().Listen(at, {}, [this](std::unique_ptr<Stream> stream) {
            stream->Start(this);
            streams_.push_back(std::move(stream));
          });
    });
  }
  void OnData(std::string_view) override {
    if (!silent_) streams_.clear();
  }
  void OnClosed(const Status&) override {}

 private:
  const bool silent_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

// A caller's aggregation without its end.
struct Calling {
  Calling(AggregationEnvironment& environment, NodeLoop& loop, NodeTask given)
      : task(std::move(given)),
        work(environment.costs, task.service, 0, task.children.size()),
        results(environment, task, loop, work, [this](Turn turn) { turns.push_back(turn); }),
        children(environment, task, loop, results) {}

  const NodeTask task;
  TaskWork work;
  std::vector<Turn> turns;
  Reductions results;
  AggregationChildren children;
};

class AggregationChildrenTest : public testing::Test {
 protected:
  AggregationChildrenTest() { task_.service = ServiceName("index"); }
  ~AggregationChildrenTest() override {
    node_.OnLoop([this] {
      calling_.reset();
      servers_.clear();
    });
  }

  // The servers s0, s1, ... have these partitions; their ports are closed.
  void See(const std::vector<std::vector<uint32_t>>& partitions_of_server) {
    for (const std::vector<uint32_t>& partitions : partitions_of_server) {
      announcements_.push_back(node_.Server(StrCat("s", announcements_.size()), partitions));
    }
    node_.See(announcements_);
  }
  TreeMember Member(size_t server, const std::vector<uint32_t>& partitions,
                    uint16_t child_count = 0) const {
    return {.node = announcements_[server].node,
            .at = announcements_[server].call_endpoint,
            .partitions = {partitions.begin(), partitions.end()},
            .child_count = child_count};
  }
  void AddChild(std::vector<TreeMember> members) {
    task_.children.push_back({std::move(members), node_.simulator().now() + seconds(2)});
  }
  void Open(size_t server, bool silent) {
    servers_.push_back(
        std::make_unique<DumbServer>(node_, announcements_[server].call_endpoint, silent));
  }
  void Start() {
    calling_ = std::make_shared<Calling>(node_.environment(), node_.loop(), std::move(task_));
    node_.OnLoop([this] {
      calling_->results.Begin(calling_);
      for (size_t i = 0; i < calling_->task.children.size(); ++i) {
        calling_->results.progress().Expect(/*local=*/false);
      }
      calling_->children.Start(calling_);
      calling_->results.Advance();
    });
  }
  bool IsDone() const { return !calling_->turns.empty(); }
  void RunUntilDone() {
    EXPECT_TRUE(node_.simulator().RunUntilTrue([this] { return IsDone(); },
                                               node_.simulator().now() + seconds(1)));
  }
  // The reasons by partition. REQUIRES: it is done.
  std::map<uint32_t, Status> Missing() {
    std::map<uint32_t, Status> missing;
    for (const MissingPartition& one : calling_->results.progress().ReleaseOutcome().missing) {
      EXPECT_TRUE(missing.emplace(one.partition.value(), one.reason).second) << one.partition;
    }
    return missing;
  }
  uint64_t moved_count() { return node_.environment().counters.moved_partitions->value(); }

  Choices choices_;
  CallingNode node_{
      {.make_policy = [this](Loop&) { return std::make_unique<FirstPolicy>(choices_); }}};
  std::vector<Announcement> announcements_;
  std::vector<std::unique_ptr<DumbServer>> servers_;
  NodeTask task_;
  std::shared_ptr<Calling> calling_;
};

TEST_F(AggregationChildrenTest, PartitionOfALostServerIsTriedOnOtherReplicasUpToTheLimit) {
  See({{0}, {0}, {0}, {0}});
  AddChild({Member(0, {0})});
  Start();
  RunUntilDone();
  EXPECT_EQ(choices_.nodes, (std::vector<std::string>{"s1", "s2"})) << "three attempts in all";
  EXPECT_EQ(moved_count(), 2u);
  const std::map<uint32_t, Status> missing = Missing();
  ASSERT_TRUE(missing.contains(0));
  EXPECT_EQ(missing.at(0).code(), StatusCode::kUnavailable);
  choices_.ExpectEachConcludedOnce();
}

TEST_F(AggregationChildrenTest, AfterAllReplicasWereTriedAnyIsTriedAgainAfterAPause) {
  See({{0}, {0}});
  AddChild({Member(0, {0})});
  const TimePoint begin = node_.simulator().now();
  Start();
  RunUntilDone();
  EXPECT_EQ(choices_.nodes, (std::vector<std::string>{"s1", "s0"}));
  EXPECT_GE(node_.simulator().now() - begin, milliseconds(10));
  choices_.ExpectEachConcludedOnce();
}

TEST_F(AggregationChildrenTest, PartitionThatNobodyHasIsMissingAtOnce) {
  See({{0}, {1}});
  AddChild({Member(0, {0})});
  node_.See({announcements_[1]});
  Start();
  RunUntilDone();
  EXPECT_TRUE(choices_.nodes.empty());
  EXPECT_EQ(Missing().size(), 1u);
}

TEST_F(AggregationChildrenTest, EachChoiceIsConcludedThoughPartitionsMoveToDifferentServers) {
  See({{0, 1, 2}, {0}, {1}, {2}});
  AddChild({Member(0, {0, 1, 2})});
  Start();
  RunUntilDone();
  EXPECT_GE(choices_.nodes.size(), 3u);
  EXPECT_EQ(Missing().size(), 3u);
  choices_.ExpectEachConcludedOnce();
}

TEST_F(AggregationChildrenTest, SubtreeOfALostServerIsAdoptedAndEachPartitionIsMissingOnce) {
  See({{0}, {1}, {2}, {0}});
  AddChild({Member(0, {0}, 2), Member(1, {1}), Member(2, {2})});
  Start();
  RunUntilDone();
  EXPECT_GT(node_.environment().counters.adopted_children->value(), 0u);
  std::vector<uint32_t> partitions;
  for (const auto& [partition, reason] : Missing()) partitions.push_back(partition);
  EXPECT_EQ(partitions, (std::vector<uint32_t>{0, 1, 2}));
  choices_.ExpectEachConcludedOnce();
}

TEST_F(AggregationChildrenTest, ServerThatDoesNotAcceptItsTaskInTimeIsReplaced) {
  See({{0}, {0}});
  Open(0, /*silent=*/true);
  AddChild({Member(0, {0})});
  Start();
  node_.simulator().RunFor(node_.environment().accept_timeout - milliseconds(5));
  EXPECT_TRUE(choices_.nodes.empty());
  node_.simulator().RunFor(milliseconds(10));
  ASSERT_FALSE(choices_.nodes.empty());
  EXPECT_EQ(choices_.nodes[0], "s1");
  EXPECT_EQ(node_.environment().counters.silent_children->value(), 1u);
}

TEST_F(AggregationChildrenTest, SilentServerIsWaitedForIfNobodyElseHasItsPartition) {
  See({{0}, {1}});
  Open(0, /*silent=*/true);
  AddChild({Member(0, {0})});
  Start();
  node_.simulator().RunFor(seconds(1));
  EXPECT_FALSE(IsDone());
  EXPECT_EQ(node_.environment().counters.silent_children->value(), 0u);
}

TEST_F(AggregationChildrenTest, TaskThatWasSentIsRepeatedElsewhereUnlessTheCallIsARetry) {
  See({{0}, {0}});
  Open(0, /*silent=*/false);
  for (const bool retried : {false, true}) {
    choices_ = Choices();
    task_ = NodeTask();
    task_.service = ServiceName("index");
    task_.retried = retried;
    AddChild({Member(0, {0})});
    Start();
    RunUntilDone();
    EXPECT_EQ(choices_.nodes.empty(), retried);
    EXPECT_EQ(Missing().size(), 1u);
  }
}

TEST_F(AggregationChildrenTest, ChildThatACapsuleRefusesIsMissingWithTheCapsuleAsTheReason) {
  CapsuleConfig config;
  config.name = "narrow";
  config.type = ResourceType::kNetwork;
  config.rules = {*ClassificationRule::Parse("service:index")};
  config.limits.resident_count_max = 1;
  ASSERT_TRUE(node_.environment().client.capsules().Create(config).ok());
  See({{0}, {1}});
  Open(0, /*silent=*/true);
  AddChild({Member(0, {0})});
  AddChild({Member(1, {1})});
  Start();
  EXPECT_EQ(calling_->results.progress().missing_count(), 1u);
  node_.OnLoop([this] {
    calling_->results.progress().Expire();
    calling_->children.Close(/*failed=*/true);
    calling_->results.Advance();
  });
  ASSERT_TRUE(IsDone());
  const std::map<uint32_t, Status> missing = Missing();
  ASSERT_TRUE(missing.contains(1));
  EXPECT_NE(missing.at(1).message().find("narrow"), absl::string_view::npos) << missing.at(1);
}

TEST_F(AggregationChildrenTest, LateChildrenArePrunedOnce) {
  See({{0}, {1}, {2}});
  Open(0, /*silent=*/true);
  Open(1, /*silent=*/true);
  AddChild({Member(0, {0})});
  AddChild({Member(1, {1})});
  Start();
  node_.simulator().RunFor(milliseconds(10));
  node_.OnLoop([this] {
    calling_->children.Close(/*failed=*/true);
    calling_->children.Close(/*failed=*/true);
  });
  EXPECT_EQ(node_.environment().counters.pruned_children->value(), 2u);
}

}  // namespace
}  // namespace neptune
