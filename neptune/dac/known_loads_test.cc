#include "neptune/dac/known_loads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/dac/announced_load.h"
#include "neptune/dac/calling_node.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("index");

// A server with the partition of its number.
TreeMember Member(uint32_t number) {
  TreeMember member;
  member.node = NodeId("s" + std::to_string(number));
  member.partitions = {PartitionId(number)};
  return member;
}

// Estimates are plain sums unless a test says otherwise.
class KnownLoadsTest : public testing::Test {
 protected:
  KnownLoadsTest() {
    options_.make_load_estimator = [] {
      return std::make_unique<LoadEstimator>(
          LoadEstimatorOptions{.correction_share = 0,
                               .relaxation_services = std::numeric_limits<double>::infinity(),
                               .fellow_weight = 1});
    };
  }
  ~KnownLoadsTest() override {
    node_.OnLoop([this] { loads_.reset(); });
  }

  KnownLoads& Open() {
    options_.poll_bind = node_.PortAt(0);
    node_.OnLoop(
        [this] { loads_ = *KnownLoads::Open(node_.loop(), node_.environment().gossip, options_); });
    return *loads_;
  }
  CallLoads Estimate(const std::vector<TreeMember>& members) {
    CallLoads loads;
    node_.Run([&] { loads = loads_->Estimate(kService, members); });
    return loads;
  }
  Duration LoadOf(const TreeMember& member) { return Estimate({member}).servers.at(0).load; }

  // The server announces pending work, and the costs of its operators.
  Announcement Announcing(uint32_t number, Duration pending, uint64_t sequence = 1) {
    CostMeter costs;
    costs.AddLocal(kService, milliseconds(20));
    costs.AddReduce(kService, milliseconds(6));
    const PendingWork work(costs, pending);
    Announcement announcement = node_.Server("s" + std::to_string(number), {number});
    announcement.sequence = sequence;
    announcement.sections[kAggregationLoadSection] =
        EncodeAnnouncedLoad(costs, /*processor_count=*/2, announcement.services);
    return announcement;
  }

  CallingNode node_;
  AggregatorOptions options_;
  std::unique_ptr<KnownLoads> loads_;
};

TEST_F(KnownLoadsTest, AnnouncedLoadIsThatOfAllProcessorsTogether) {
  Open();
  node_.See({Announcing(0, milliseconds(50))});
  TreeMember member = Member(0);
  member.partitions = {PartitionId(0), PartitionId(4), PartitionId(5)};
  const CallLoads loads = Estimate({member});
  ASSERT_EQ(loads.servers.size(), 1u);
  EXPECT_EQ(loads.servers[0].load, milliseconds(25));
  // One report of costs has little weight against those that are assumed; the shape is exact.
  const Duration reduce = loads.servers[0].reduce_cost;
  const Duration local = Estimate({Member(0)}).servers[0].local_cost;
  EXPECT_EQ(loads.servers[0].local_cost, 3 * local + 2 * reduce);
}

TEST_F(KnownLoadsTest, AnnouncementIsReadOnce) {
  Open();
  const Announcement announced = Announcing(0, milliseconds(50));
  node_.See({announced});
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(25));
  node_.Run([this] { loads_->OnAssigned({Member(0)}, {milliseconds(7)}); });
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(32)) << "the work came after the announcement";
  node_.See({Announcing(0, milliseconds(60), 2)});
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(30)) << "the next announcement has the work";
}

TEST_F(KnownLoadsTest, GossipOfTheNodeIsHeeded) {
  Open();
  node_.simulator().RunFor(seconds(1));
  node_.environment().gossip.Merge({NodeId("s0"), milliseconds(40), node_.simulator().now()});
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(40));
  node_.environment().gossip.Merge({NodeId("s1"), milliseconds(90), node_.simulator().now()});
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(40)) << "it is of another server";
}

TEST_F(KnownLoadsTest, RecordOfAnAnswerIsDividedByTheProcessors) {
  Open();
  MemberRecord record;
  record.node = NodeId("s0");
  record.processor_count = 4;
  record.pending = milliseconds(80);
  node_.Run([&] { loads_->OnRecord(kService, record, this_thread::Now()); });
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(20));
}

TEST_F(KnownLoadsTest, WorkOfACancelledCallNoLongerCounts) {
  Open();
  node_.See({Announcing(0, Duration(0)), Announcing(1, Duration(0))});
  const std::vector<TreeMember> members = {Member(0), Member(1)};
  (void)Estimate(members);
  const std::vector<Duration> work = {milliseconds(7), milliseconds(9)};
  node_.Run([&] { loads_->OnAssigned(members, work); });
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(7));
  EXPECT_EQ(LoadOf(Member(1)), milliseconds(9));
  node_.Run([&] { loads_->OnCancelled(members, work); });
  EXPECT_EQ(LoadOf(Member(0)), Duration(0));
  EXPECT_EQ(LoadOf(Member(1)), Duration(0));
}

TEST_F(KnownLoadsTest, ReductionCostsMoreOnAServerOfWhichNothingIsKnown) {
  options_.make_load_estimator = AggregatorOptions().make_load_estimator;
  Open();
  node_.See({Announcing(0, milliseconds(10))});
  const CallLoads loads = Estimate({Member(0), Member(1)});
  ASSERT_EQ(loads.cautious.size(), 2u);
  EXPECT_EQ(loads.cautious[0].reduce_cost, loads.servers[0].reduce_cost);
  EXPECT_GT(loads.cautious[1].reduce_cost, 2 * loads.servers[1].reduce_cost);
  EXPECT_EQ(loads.cautious[1].load, loads.servers[1].load);
  EXPECT_EQ(loads.cautious[1].local_cost, loads.servers[1].local_cost);
}

// An estimator that ignores all reports.
class ConstantLoads final : public LoadEstimator {
 public:
  Duration Estimate(const NodeId&, const ServiceName&, TimePoint, RandomSource&) const override {
    return milliseconds(33);
  }
};

TEST_F(KnownLoadsTest, EstimatorOfTheOptionsIsAsked) {
  options_.make_load_estimator = [] { return std::make_unique<ConstantLoads>(); };
  Open();
  node_.See({Announcing(0, milliseconds(10))});
  EXPECT_EQ(LoadOf(Member(0)), milliseconds(33));
}

TEST_F(KnownLoadsTest, CallWithoutServersHasNoLoads) {
  Open();
  const CallLoads loads = Estimate({});
  EXPECT_TRUE(loads.servers.empty());
  EXPECT_TRUE(loads.cautious.empty());
}

TEST_F(KnownLoadsTest, CallWaitsForNoPollsIfTheyAreOffOrThereIsOneServer) {
  for (const size_t poll_count : {0, 2}) {
    options_.poll_count = poll_count;
    Open();
    node_.See({node_.Server("s0", {0}), node_.Server("s1", {1})});
    node_.Run([&] {
      const TimePoint begin = this_thread::Now();
      loads_->Poll(kService, {Member(0)}, begin + seconds(1));
      EXPECT_EQ(this_thread::Now(), begin) << poll_count;
      if (poll_count > 0) return;
      loads_->Poll(kService, {Member(0), Member(1)}, begin + seconds(1));
      EXPECT_EQ(this_thread::Now(), begin);
    });
  }
}

TEST_F(KnownLoadsTest, CallWithLittleToReducePollsNone) {
  Open();
  const std::vector<TreeMember> two = {Member(0), Member(1)};
  std::vector<TreeMember> many;
  for (uint32_t number = 0; number < 12; ++number) many.push_back(Member(number));
  std::vector<Announcement> announced;
  for (const TreeMember& member : many) {
    announced.push_back(node_.Server(member.node.value(), {member.partitions[0].value()}));
  }
  node_.See(announced);
  node_.Run([&] {
    MemberRecord record;
    record.node = NodeId("s0");
    record.local_cost = milliseconds(20);
    record.reduce_cost = std::chrono::microseconds(30);
    for (int i = 0; i < 2000; ++i) loads_->OnRecord(kService, record, this_thread::Now());
    const TimePoint begin = this_thread::Now();
    loads_->Poll(kService, two, begin + seconds(1));
    EXPECT_EQ(this_thread::Now(), begin);
    loads_->Poll(kService, many, begin + seconds(1));
    EXPECT_GT(this_thread::Now(), begin) << "no server answers";
  });
}

TEST_F(KnownLoadsTest, PollsEndAtTheDeadlineAtTheLatest) {
  Open();
  node_.See({node_.Server("s0", {0}), node_.Server("s1", {1})});
  node_.Run([&] {
    const TimePoint begin = this_thread::Now();
    const TimePoint deadline = begin + std::chrono::microseconds(150);
    loads_->Poll(kService, {Member(0), Member(1)}, deadline);  // no server answers
    EXPECT_EQ(this_thread::Now(), deadline);
  });
}

}  // namespace
}  // namespace neptune
