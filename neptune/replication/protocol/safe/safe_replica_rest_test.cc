// Partitions whose primary rests: what an idle one costs, and that nothing else changes.
#include <gtest/gtest.h>

#include <random>

#include "neptune/base/strings.h"
#include "neptune/replication/testing/safe_network.h"

namespace neptune {
namespace {

using replication_testing::IsWholeAfter;
using replication_testing::NetworkOptions;
using replication_testing::ReplicaNetwork;
using replication_testing::Room;
using replication_testing::SafeMembers;
using std::chrono::milliseconds;
using std::chrono::seconds;

NetworkOptions Members(int count, int witnesses = 0, uint64_t seed = 1) {
  NetworkOptions options = SafeMembers(count, witnesses, seed);
  options.has_pulses = true;
  return options;
}

// Messages without writers and readers.
size_t IdleMessages(ReplicaNetwork& network, Duration time) {
  const size_t before = network.message_count();
  network.RunFor(time);
  return network.message_count() - before;
}

TEST(SafeReplicaRestTest, AnIdlePartitionSendsAlmostNothing) {
  for (int count : {1, 2, 3, 5}) {
    ReplicaNetwork network(Members(count, count == 5 ? 1 : 0));
    network.RunFor(seconds(2));
    // One exchange with each member in rest_interval; without a rest there are 1,200.
    EXPECT_LE(IdleMessages(network, seconds(60)), static_cast<size_t>(10 * count));
    EXPECT_EQ(network.primary_count(), 1) << count << " members";
    for (MemberIndex member = 0; count > 1 && member < count; ++member) {
      EXPECT_TRUE(network.status(member).rests) << int{member} << " of " << count << " members";
    }
    EXPECT_EQ(network.wrong(), "");
  }
}

TEST(SafeReplicaRestTest, WithoutPulsesNothingRests) {
  NetworkOptions options = Members(3);
  options.has_pulses = false;
  ReplicaNetwork network(options);
  network.RunFor(seconds(2));
  EXPECT_GE(IdleMessages(network, seconds(10)), 700u);
  EXPECT_TRUE(network.IsWhole());
}

TEST(SafeReplicaRestTest, AWriteAfterARestIsAsQuickAsOthers) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(40));
  ASSERT_TRUE(network.Write());
  network.RunFor(milliseconds(40));
  EXPECT_EQ(network.acknowledged_count(), 1u);
  EXPECT_TRUE(network.IsWhole()) << network.Describe();
  EXPECT_EQ(network.status(0).write_set.size(), 3);
}

TEST(SafeReplicaRestTest, AReaderWakesThePrimaryAndKeepsItsMembersCurrent) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(20));
  ASSERT_EQ(network.Primary(), std::nullopt) << "a resting primary holds no lease";
  network.WantRead(0);
  network.RunFor(milliseconds(20));
  EXPECT_EQ(network.Primary(), MemberIndex{0});
  EXPECT_FALSE(network.status(0).rests);
  EXPECT_FALSE(network.status(2).rests);
  for (int i = 0; i < 50; ++i) {
    network.WantRead(1);
    network.RunFor(milliseconds(100));
    EXPECT_EQ(network.Primary(), MemberIndex{0});
  }
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaRestTest, ALostRestingPrimaryIsReplacedAsQuicklyAsAnother) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(20));
  network.Crash(0);
  network.RunFor(milliseconds(900));
  EXPECT_EQ(network.Primary(), MemberIndex{1}) << network.Describe();
}

TEST(SafeReplicaRestTest, APrimaryThatRestartedWhileItRestedIsReplaced) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(20));
  network.Crash(0);
  network.Restart(0);
  network.RunFor(seconds(2));
  network.Write();
  network.RunFor(milliseconds(50));
  EXPECT_TRUE(network.Primary().has_value()) << network.Describe();
  EXPECT_EQ(network.acknowledged_count(), 1u);
}

TEST(SafeReplicaRestTest, APartitionRestsWithoutAMemberThatIsAway) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(2));
  network.Crash(2);
  ASSERT_TRUE(network.WriteFor(seconds(2)) > 0);
  network.RunFor(seconds(2));
  EXPECT_LE(IdleMessages(network, seconds(60)), 40u);
  network.Restart(2);
  EXPECT_TRUE(IsWholeAfter(network, seconds(3))) << network.Describe();
  EXPECT_LE(IdleMessages(network, seconds(60)), 40u);
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaRestTest, AMemberThatAloneDoesNotHearThePrimaryUnseatsNobody) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(20));
  const int before = network.primary_count();
  network.Cut(0, 2, true);
  network.Cut(2, 0, true);
  network.RunFor(seconds(20));
  EXPECT_EQ(network.primary_count(), before);
  network.HealAll();
  EXPECT_TRUE(IsWholeAfter(network, seconds(3))) << network.Describe();
}

TEST(SafeReplicaRestTest, APreferredMemberThatIsBackLeadsAgainAndRests) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(2));
  network.Crash(0);
  network.WriteFor(seconds(2));
  network.RunFor(seconds(10));
  network.Restart(0);
  network.RunFor(seconds(10));
  EXPECT_EQ(network.status(0).role, ReplicaRole::kPrimary) << network.Describe();
  EXPECT_LE(IdleMessages(network, seconds(60)), 40u);
}

TEST(SafeReplicaRestTest, ACandidateThatHearsNoOtherMemberAsksLessOften) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(2));
  network.Crash(1);
  network.Crash(2);
  network.RunFor(seconds(5));
  // Two asks and two greetings each half second; 530 if the pause does not grow.
  EXPECT_LE(IdleMessages(network, seconds(10)), 120u);
  network.Restart(1);
  network.RunFor(seconds(2));
  network.Write();
  network.RunFor(milliseconds(50));
  EXPECT_EQ(network.acknowledged_count(), 1u) << network.Describe();
}

// Random faults between bursts of writes and idle seconds; then peace.
std::string RunWithFaults(uint64_t seed) {
  std::mt19937_64 random(seed);
  const int count = 2 + static_cast<int>(random() % 4);
  const int witnesses = count % 2 == 1 && random() % 3 == 0 ? 1 : 0;
  NetworkOptions options = Members(count, witnesses, seed);
  options.duplication = random() % 2 == 0 ? 0 : .1;
  options.delay_mean = random() % 3 == 0 ? milliseconds(20) : std::chrono::microseconds(300);
  ReplicaNetwork network(options);
  network.RunFor(seconds(2));
  const auto any = [&] {
    return static_cast<MemberIndex>(random() % static_cast<unsigned>(count));
  };
  for (int i = 0; i < 40 && network.wrong().empty(); ++i) {
    const MemberIndex member = any();
    const MemberIndex other = any();
    switch (random() % 9) {
      case 0:
        if (network.lives(member)) network.Crash(member);
        break;
      case 1:
      case 2:
        if (!network.lives(member)) network.Restart(member);
        break;
      case 3:
        if (network.lives(member) && !network.paused(member)) network.Pause(member);
        break;
      case 4:
        if (network.paused(member)) network.Resume(member);
        break;
      case 5:
        if (other != member) network.Cut(member, other, random() % 2 == 0);
        break;
      case 6:
        network.SetLoss(random() % 2 == 0 ? 0 : .2);
        break;
      case 7:
        if (network.lives(member) && !network.paused(member)) network.WantRead(member);
        break;
      case 8:
        network.SetRoom(member, random() % 2 == 0 ? Room::kAmple : Room::kFull);
        break;
    }
    if (random() % 2 == 0) network.WriteFor(milliseconds(random() % 200), milliseconds(3));
    network.RunFor(milliseconds(random() % 3000));
  }
  network.HealAll();
  for (MemberIndex member = 0; member < count; ++member) {
    if (!network.lives(member)) network.Restart(member);
    if (network.paused(member)) network.Resume(member);
  }
  for (int i = 0; i < 20 && network.wrong().empty(); ++i) {
    if (IsWholeAfter(network, seconds(1))) break;
  }
  if (!network.wrong().empty()) return network.wrong();
  if (!network.IsWhole()) return "is not whole after 20 s of peace" + network.Describe();
  network.RunFor(seconds(10));
  const size_t messages = IdleMessages(network, seconds(30));
  return messages <= static_cast<size_t>(10 * count) ? network.wrong()
                                                     : StrCat(messages, " messages while idle");
}

TEST(SafeReplicaRestTest, NothingGoesWrongUnderRandomFaults) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ASSERT_EQ(RunWithFaults(seed), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace neptune
