#include "neptune/balancing/replica_chooser.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("echo");
const PartitionId kPartition(0);

std::vector<Replica> Replicas(uint32_t address, const std::vector<uint32_t>& loads) {
  std::vector<Replica> replicas;
  for (const uint32_t load : loads) {
    const auto number = static_cast<uint16_t>(replicas.size());
    auto announcement = std::make_shared<Announcement>();
    announcement->load_index = load;
    replicas.push_back({.node = NodeId(StrCat("s", number)),
                        .call_endpoint = {address, static_cast<uint16_t>(7000 + number)},
                        .probe_endpoint = {address, static_cast<uint16_t>(8000 + number)},
                        .announced = std::make_shared<AnnouncedNode>(announcement)});
  }
  return replicas;
}

class ReplicaChooserTest : public testing::TestWithParam<BalancingPolicy> {
 protected:
  ReplicaChooserTest()
      : host_(simulator_.AddHost({.name = "client"})), loop_(**host_.StartLoop({.name = "main"})) {
    OnLoop([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
  }
  ~ReplicaChooserTest() override {
    OnLoop([this] {
      chooser_.reset();
      threads_->Stop();
    });
  }

  void OnLoop(Task task) {
    loop_.Post(std::move(task));
    simulator_.RunFor(Duration(1));
  }
  void Open(const BalancingOptions& options) {
    OnLoop([&] { chooser_ = *ReplicaChooser::Open(loop_, options, {{host_.address(), 0}}); });
  }
  std::optional<ReplicaChoice> Choose(const std::vector<Replica>& replicas,
                                      const std::vector<NodeId>& tried = {}) {
    std::optional<ReplicaChoice> choice;
    bool done = false;
    OnLoop([&] {
      ASSERT_TRUE(threads_
                      ->Spawn([&] {
                        choice = chooser_->Choose(kService, kPartition, replicas, tried, kNever);
                        if (choice) chooser_->Lost(*choice, /*failed=*/false);
                        done = true;
                      })
                      .ok());
    });
    EXPECT_TRUE(simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + seconds(1)));
    return choice;
  }

  Simulator simulator_{1};
  SimWorld& host_;
  Loop& loop_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<ReplicaChooser> chooser_;
};

TEST_P(ReplicaChooserTest, ChoosesEachUntriedReplicaAndNoOther) {
  Open({.policy = GetParam()});
  const std::vector<Replica> replicas = Replicas(host_.address(), {3, 3, 3, 3});
  std::set<size_t> chosen;
  for (int i = 0; i < 200; ++i) {
    const auto choice = Choose(replicas, {NodeId("s1")});
    ASSERT_TRUE(choice);
    chosen.insert(choice->index);
  }
  EXPECT_EQ(chosen, (std::set<size_t>{0, 2, 3}));
}

TEST_P(ReplicaChooserTest, ChoosesNoneWhenAllWereTried) {
  Open({.policy = GetParam()});
  EXPECT_FALSE(Choose(Replicas(host_.address(), {0, 0}), {NodeId("s0"), NodeId("s1")}));
  EXPECT_FALSE(Choose({}));
}

TEST_P(ReplicaChooserTest, TheOnlyReplicaIsChosen) {
  Open({.policy = GetParam()});
  EXPECT_EQ(Choose(Replicas(host_.address(), {9}))->index, 0u);
}

std::string NameOf(const testing::TestParamInfo<BalancingPolicy>& info) {
  static const std::map<BalancingPolicy, std::string> kNames = {
      {BalancingPolicy::kRandom, "Random"},
      {BalancingPolicy::kRoundRobin, "RoundRobin"},
      {BalancingPolicy::kBroadcast, "Broadcast"},
      {BalancingPolicy::kPoll, "Poll"},
      {BalancingPolicy::kProbePool, "ProbePool"}};
  return kNames.at(info.param);
}

INSTANTIATE_TEST_SUITE_P(Policies, ReplicaChooserTest,
                         testing::Values(BalancingPolicy::kRandom, BalancingPolicy::kRoundRobin,
                                         BalancingPolicy::kBroadcast, BalancingPolicy::kPoll,
                                         BalancingPolicy::kProbePool),
                         NameOf);

class OnePolicyTest : public ReplicaChooserTest {};

TEST_F(OnePolicyTest, BroadcastTakesTheLeastAnnouncedLoad) {
  Open({.policy = BalancingPolicy::kBroadcast});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Choose(Replicas(host_.address(), {4, 2, 7}))->index, 1u);
}

TEST_F(OnePolicyTest, RoundRobinTakesTheUntriedReplicasInTurn) {
  Open({.policy = BalancingPolicy::kRoundRobin});
  const std::vector<Replica> replicas = Replicas(host_.address(), {3, 3, 3, 3});
  for (const size_t expected : {0, 2, 3, 0, 2, 3}) {
    EXPECT_EQ(Choose(replicas, {NodeId("s1")})->index, expected);
  }
}

// Counts its choices and their outcomes.
class CountingPolicy final : public ReplicaPolicy {
 public:
  struct Counts {
    int asked = 0;
    int lost = 0;
  };
  explicit CountingPolicy(Counts* counts) : counts_(*counts) {}
  ReplicaChoice Choose(const ReplicaQuestion& question) override {
    ++counts_.asked;
    return {.index = question.replicas.size() - 1, .record = 7};
  }
  void Lost(uint64_t record, bool failed) override { counts_.lost += record == 7 ? 1 : 0; }

 private:
  Counts& counts_;
};

TEST_F(OnePolicyTest, AnInjectedPolicyIsAskedEachTimeAndHearsTheOutcome) {
  CountingPolicy::Counts counts;
  BalancingOptions options;
  options.make_policy = [&](Loop&) { return std::make_unique<CountingPolicy>(&counts); };
  Open(options);
  EXPECT_EQ(Choose(Replicas(host_.address(), {0, 0, 0}))->index, 2u);
  EXPECT_EQ(Choose(Replicas(host_.address(), {0}))->index, 0u);
  EXPECT_EQ(counts.asked, 2);
  EXPECT_EQ(counts.lost, 2);
}

}  // namespace
}  // namespace neptune
