// Membership of whole nodes: how fast the living learn of the dead, and who is wrongly forgotten.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kServerCount = 16;

std::set<std::string> AllNodes() {
  std::set<std::string> names = {"c"};
  for (int i = 0; i < kServerCount; ++i) names.insert(StrCat("s", i));
  return names;
}

// Every living node knows exactly `expected`.
bool AllKnow(SimulatedCluster& cluster, const std::set<std::string>& expected) {
  for (const std::string& name : expected) {
    if (cluster.KnownNodes(name) != expected) return false;
  }
  return true;
}

uint64_t IncarnationOf(SimulatedCluster& cluster, const std::string& name) {
  return cluster.client().View()->Find(NodeId(name))->incarnation;
}

TEST(MembershipTest, SixteenNodesKnowEachOtherSoon) {
  SimulatedCluster cluster(1, kServerCount, 4);
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, KilledNodeIsForgottenByAllWithinSixPeriods) {
  for (const CrashKind kind : {CrashKind::kProcess, CrashKind::kMachine}) {
    SimulatedCluster cluster(2, kServerCount, 4);
    std::set<std::string> living = AllNodes();
    living.erase("s7");
    cluster.simulator().RunFor(milliseconds(700));
    cluster.simulator().Crash("s7", kind);
    EXPECT_TRUE(cluster.simulator().RunUntilTrue([&] { return AllKnow(cluster, living); },
                                                 cluster.simulator().now() + seconds(6)));
  }
}

TEST(MembershipTest, RestartedNodeIsKnownAtOnceWithItsNewIncarnation) {
  SimulatedCluster cluster(3, kServerCount, 4);
  const uint64_t before = IncarnationOf(cluster, "s3");
  cluster.simulator().RunFor(seconds(2));
  cluster.simulator().Restart("s3");
  cluster.simulator().RunFor(milliseconds(500));
  EXPECT_GT(IncarnationOf(cluster, "s3"), before);
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

// The node's announcements look older than its goodbye, until it receives a correction.
TEST(MembershipTest, NodeWhoseClockWasSetBackIsKnownAgainAtOnce) {
  SimulatedCluster cluster(6, kServerCount, 4);
  cluster.node("s3").Stop(seconds(1), [] {});
  cluster.simulator().RunFor(seconds(1));
  cluster.simulator().SetClockOffset("s3", -seconds(3600));
  cluster.simulator().Restart("s3");
  cluster.simulator().RunFor(milliseconds(500));
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, CrashedNodeWhoseClockWasSetBackIsKnownAgainWithinSixPeriods) {
  SimulatedCluster cluster(7, kServerCount, 4);
  const uint64_t before = IncarnationOf(cluster, "s3");
  cluster.simulator().SetClockOffset("s3", -seconds(3600));
  cluster.simulator().Restart("s3");
  cluster.simulator().RunFor(seconds(4));
  EXPECT_GT(IncarnationOf(cluster, "s3"), before);
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

// A process that was replaced while it was paused must not drive out its successor.
TEST(MembershipTest, ReplacedNodeThatComesBackDoesNotTakeItsNameAgain) {
  SimulatedCluster cluster(8, kServerCount, 4);
  const uint64_t now = IncarnationOf(cluster, "s3");
  Announcement old = *cluster.client().View()->Find(NodeId("s3"));
  old.incarnation = now - 1;
  old.sequence = 1000;
  SimWorld& stranger = cluster.simulator().AddHost({.name = "x"});
  Loop* const loop = *stranger.StartLoop({.name = "loop"});
  const auto socket = *loop->network().OpenDatagram(
      {}, [](const Endpoint&, std::string_view) { ADD_FAILURE() << "a node answers it"; });
  old.probe_endpoint = {stranger.address(), socket->local().port};
  for (int i = 0; i < 10; ++i) {
    ++old.sequence;
    (void)socket->SendTo({0xefc00701, 7400}, *EncodeAnnouncement(old));
    cluster.simulator().RunFor(seconds(1));
  }
  EXPECT_EQ(IncarnationOf(cluster, "s3"), now);
}

TEST(MembershipTest, CutNodesForgetEachOtherAndMeetAgain) {
  SimulatedCluster cluster(4, kServerCount, 4);
  std::set<std::string> left = {"s0", "s1", "s2"};
  std::set<std::string> right = AllNodes();
  for (const std::string& name : left) right.erase(name);
  const LinkModel::CutId cut = cluster.simulator().Partition(left, right);
  cluster.simulator().RunFor(seconds(7));
  EXPECT_TRUE(AllKnow(cluster, left));
  EXPECT_TRUE(AllKnow(cluster, right));
  cluster.simulator().Heal(cut);
  cluster.simulator().RunFor(milliseconds(1500));
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, LossOfAThirdOfDatagramsRemovesNoNode) {
  SimulatedCluster cluster(5, kServerCount, 4);
  LinkConditions lossy = cluster.simulator().links();
  lossy.datagram_loss = 0.3;
  cluster.simulator().SetLinks(lossy);
  for (int second = 0; second < 60; ++second) {
    cluster.simulator().RunFor(seconds(1));
    ASSERT_TRUE(AllKnow(cluster, AllNodes())) << "after " << second << " s";
  }
}

// The goodbye is lost, so callers learn of the leave only by their connections.
TEST(LeaveTest, LeavingCostsNoCallEvenIfTheGoodbyeIsLost) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedCluster cluster(seed, 2, 1);
    cluster.simulator().TamperWith([](Carrier carrier, std::string* bytes) {
      const auto said = carrier == Carrier::kDatagram ? DecodeAnnouncement(*bytes) : DataLoss("");
      return !said.ok() || !said->goodbye;
    });
    bool calling = true;
    int ok_count = 0;
    for (int i = 0; i < 50; ++i) {
      cluster.SpawnOnClient([&, access = i % 2 == 0 ? AccessMode::kRead
                                                    : AccessMode::kWrite](ClientSession& session) {
        while (calling) {
          Data response;
          const Status status =
              Call(session, {ServiceName("echo"), PartitionId(0), MethodName("Echo"), access},
                   Data("x"), &response);
          EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status;
          ++ok_count;
        }
      });
    }
    cluster.simulator().RunFor(milliseconds(20));
    bool stopped = false;
    cluster.node("s0").Stop(seconds(1), [&] { stopped = true; });
    ASSERT_TRUE(cluster.simulator().RunUntilTrue([&] { return stopped; },
                                                 cluster.simulator().now() + milliseconds(200)))
        << "callers hang up at once";
    cluster.simulator().Crash("s0", CrashKind::kProcess);
    cluster.simulator().RunFor(milliseconds(50));
    calling = false;
    cluster.simulator().RunFor(milliseconds(10));
    EXPECT_GT(ok_count, 1000);
  }
}

// Two replicas of one partition, chosen at random: a call cannot know that a node hangs.
class HangTest : public testing::Test {
 protected:
  HangTest() {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(2, 1);
    options.spec.set_balancing("random");
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
    // So that connections are there when a node hangs.
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(Echo().ok());
  }

  Status Echo(Duration timeout = seconds(10)) {
    Status status;
    const TimePoint begin = cluster_->simulator().now();
    cluster_->RunOnClient([&](ClientSession& session) {
      Data response;
      status = Call(session,
                    {ServiceName("echo"), PartitionId(0), MethodName("Echo"), AccessMode::kRead},
                    Data("x"), &response, {.deadline = this_thread::Now() + timeout});
    });
    took_max_ = std::max(took_max_, cluster_->simulator().now() - begin);
    return status;
  }

  std::unique_ptr<SimulatedCluster> cluster_;
  Duration took_max_{0};
};

TEST_F(HangTest, CallsToAHungNodeGoElsewhereWithinTwoSeconds) {
  cluster_->simulator().Pause("s0");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Echo().ok());
  EXPECT_GT(took_max_, seconds(1)) << "no call met the hung node";
  EXPECT_LT(took_max_, seconds(2));
  EXPECT_EQ(cluster_->KnownReplicas(), std::set<std::string>{"s1"});
  cluster_->simulator().Resume("s0");
  cluster_->simulator().RunFor(milliseconds(1500));
  EXPECT_EQ(cluster_->KnownReplicas().size(), 2u);
}

TEST_F(HangTest, WhenAllReplicasHangCallsFailAtOnceAfterTwoSeconds) {
  cluster_->simulator().Pause("s0");
  cluster_->simulator().Pause("s1");
  EXPECT_EQ(Echo(seconds(1)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Echo(seconds(1)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Echo().code(), StatusCode::kUnavailable);
  took_max_ = Duration(0);
  EXPECT_EQ(Echo().code(), StatusCode::kUnavailable);
  EXPECT_LT(took_max_, milliseconds(1));
}

// Announcements of the node still come: only what is sent to it is lost.
TEST_F(HangTest, NodeThatIsHeardButNotReachedIsNotCalled) {
  cluster_->simulator().Partition({"c"}, {"s0"}, /*both_ways=*/false);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Echo().ok());
  EXPECT_LT(took_max_, seconds(2));
  took_max_ = Duration(0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Echo().ok());
    cluster_->simulator().RunFor(milliseconds(100));
  }
  EXPECT_LT(took_max_, milliseconds(2)) << "it comes and goes";
  cluster_->simulator().HealAll();
  cluster_->simulator().RunFor(seconds(2));
  EXPECT_EQ(cluster_->KnownReplicas().size(), 2u);
}

}  // namespace
}  // namespace neptune
