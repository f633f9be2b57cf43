// The pure parts of membership: announcements as bytes, and the yellow page's rules.

#include <gtest/gtest.h>

#include "neptune/membership/announcement.h"
#include "neptune/membership/service_yellow_page.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kEcho("echo");
const PartitionId kFirst(0);

TimePoint At(double s) { return TimePoint(FromSeconds(s)); }

Announcement Of(const std::string& node, uint64_t sequence, uint64_t incarnation = 1) {
  Announcement announcement;
  announcement.node = NodeId(node);
  announcement.incarnation = incarnation;
  announcement.sequence = sequence;
  announcement.call_endpoint = {kLoopbackAddress, 4000};
  announcement.probe_endpoint = {kLoopbackAddress, 4001};
  announcement.services.push_back({kEcho, 1, "plain", {PartitionId(0), PartitionId(2)}});
  return announcement;
}

TEST(AnnouncementTest, NamesThatNoSpecCanHaveAreRefused) {
  const std::string names[] = {"",    "a b",      "a\nI1127 forged",   "\x1b[2J",
                               "a/b", "\xc3\xa4", std::string(64, 'a')};
  for (const std::string& name : names) {
    EXPECT_EQ(DecodeAnnouncement(*EncodeAnnouncement(Of(name, 1))).status().code(),
              StatusCode::kDataLoss)
        << name;
    Announcement announcement = Of("n1", 1);
    announcement.services[0].service = ServiceName(name);
    EXPECT_EQ(DecodeAnnouncement(*EncodeAnnouncement(announcement)).status().code(),
              StatusCode::kDataLoss)
        << name;
  }
  EXPECT_TRUE(DecodeAnnouncement(*EncodeAnnouncement(Of(std::string(63, 'a'), 1))).ok());
}

TEST(AnnouncementTest, RoundTrips) {
  Announcement announcement = Of("n1", 7);
  announcement.cluster = ClusterNumber("dev");
  announcement.draining = true;
  announcement.load_index = 12;
  announcement.cpu_load_permille = 800;
  announcement.sections[3] = "versions";
  announcement.control_endpoint = {kLoopbackAddress, 4002};
  announcement.services.push_back({ServiceName("neptune.x"), 1, "x", {kFirst}, true});
  EXPECT_EQ(*DecodeAnnouncement(*EncodeAnnouncement(announcement)), announcement);
}

TEST(AnnouncementTest, EveryCutAndEveryFlippedBitIsRefused) {
  const std::string bytes = *EncodeAnnouncement(Of("n1", 7));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeAnnouncement(bytes.substr(0, size)).ok());
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(DecodeAnnouncement(damaged).ok());
  }
}

TEST(AnnouncementTest, CorrectionRoundTripsAndIsNoAnnouncement) {
  const Correction correction = {ClusterNumber("dev"), NodeId("n1"), 7};
  const std::string bytes = EncodeCorrection(correction);
  EXPECT_EQ(*DecodeCorrection(bytes), correction);
  EXPECT_FALSE(DecodeAnnouncement(bytes).ok());
  EXPECT_FALSE(DecodeCorrection(*EncodeAnnouncement(Of("n1", 7))).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeCorrection(bytes.substr(0, size)).ok());
  }
}

TEST(AnnouncementTest, MoreThanADatagramIsRefused) {
  Announcement announcement = Of("n1", 1);
  for (uint32_t i = 0; i < 400; ++i) announcement.services[0].partitions.push_back(PartitionId(i));
  EXPECT_EQ(EncodeAnnouncement(announcement).status().code(), StatusCode::kResourceExhausted);
}

TEST(AnnouncementTest, ADenseNodeFits) {
  Announcement announcement = Of("node-with-a-long-name", 1);
  announcement.services.clear();
  for (int s = 0; s < 10; ++s) {
    HostedService hosted{ServiceName("index-tier-" + std::to_string(s)), 1, "segment", {}};
    for (uint32_t p = 0; p < 16; ++p) hosted.partitions.push_back(PartitionId(p));
    announcement.services.push_back(hosted);
  }
  EXPECT_TRUE(EncodeAnnouncement(announcement).ok());
}

class ServiceYellowPageTest : public testing::Test {
 protected:
  using Silent = ServiceYellowPage::Silent;

  size_t ReplicaCount() const { return page_.View()->Replicas(kEcho, kFirst).size(); }
  // Runs the listener's part at each event of the page until `end`. Returns the silent nodes.
  std::vector<Silent> MaintainUntil(double end) {
    std::vector<Silent> all;
    while (page_.NextEvent() <= At(end)) {
      const TimePoint now = page_.NextEvent();
      probe_count_ += static_cast<int>(page_.Suspect(now).size());
      for (const Silent& silent : page_.Expire(now)) {
        all.push_back(silent);
        silent_at_ = now;
      }
    }
    return all;
  }

  ServiceYellowPage page_;
  int probe_count_ = 0;
  TimePoint silent_at_;
};

TEST_F(ServiceYellowPageTest, ListsReplicasByPartitionInOrderOfNode) {
  page_.Receive(Of("b", 1), At(0));
  page_.Receive(Of("a", 1), At(0));
  const auto view = page_.View();
  ASSERT_EQ(view->Replicas(kEcho, kFirst).size(), 2u);
  EXPECT_EQ(view->Replicas(kEcho, kFirst)[0].node, NodeId("a"));
  EXPECT_EQ(view->Partitions(kEcho), (std::vector<PartitionId>{PartitionId(0), PartitionId(2)}));
  EXPECT_TRUE(view->Replicas(kEcho, PartitionId(1)).empty());
}

TEST_F(ServiceYellowPageTest, SilentNodeIsProbedAndForgottenWithoutAnswer) {
  page_.Receive(Of("a", 1), At(0));
  EXPECT_EQ(page_.NextEvent(), At(5));
  EXPECT_TRUE(page_.Suspect(At(4.9)).empty());
  EXPECT_TRUE(MaintainUntil(5.4).empty());
  EXPECT_EQ(ReplicaCount(), 1u) << "a probed node is still offered";
  EXPECT_EQ(MaintainUntil(9), (std::vector<Silent>{{NodeId("a"), {kLoopbackAddress, 4000}, true}}));
  EXPECT_EQ(silent_at_, At(5.5));
  EXPECT_EQ(probe_count_, 20);
  EXPECT_EQ(ReplicaCount(), 0u);
}

TEST_F(ServiceYellowPageTest, AnsweredProbeKeepsTheNode) {
  page_.Receive(Of("a", 1), At(0));
  MaintainUntil(5.3);
  page_.Receive(Of("a", 6), At(5.3), Via::kProbe);
  EXPECT_EQ(page_.NextEvent(), At(10.3));
}

// Nothing was read during a pause: the answer may wait in the socket.
TEST_F(ServiceYellowPageTest, ListenerThatStoodStillProbesOnceMore) {
  page_.Receive(Of("a", 1), At(0));
  MaintainUntil(5.45);
  EXPECT_EQ(page_.Suspect(At(8)).size(), 1u);
  EXPECT_TRUE(page_.Expire(At(8)).empty());
  page_.Receive(Of("a", 2), At(8.01), Via::kProbe);
  EXPECT_TRUE(MaintainUntil(12).empty());
}

TEST_F(ServiceYellowPageTest, ListenerThatStoodStillForLongAsksBeforeItForgets) {
  page_.Receive(Of("a", 1), At(0));
  EXPECT_EQ(page_.Suspect(At(100)).size(), 1u);
  EXPECT_TRUE(page_.Expire(At(100)).empty());
  EXPECT_TRUE(MaintainUntil(100.4).empty());
  EXPECT_EQ(MaintainUntil(101).size(), 1u);
}

TEST_F(ServiceYellowPageTest, DoubtedNodeIsExcludedUnlessItAnswers) {
  page_.Receive(Of("a", 1), At(0));
  EXPECT_TRUE(page_.Quarantine({kLoopbackAddress, 4000}, At(1)));
  EXPECT_FALSE(page_.Quarantine({kLoopbackAddress, 4000}, At(1.1))) << "it is probed already";
  EXPECT_TRUE(MaintainUntil(1.9).empty());
  EXPECT_EQ(MaintainUntil(4),
            (std::vector<Silent>{{NodeId("a"), {kLoopbackAddress, 4000}, false}}));
  EXPECT_EQ(silent_at_, At(2));
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_EQ(page_.View()->nodes().size(), 1u);
  EXPECT_EQ(MaintainUntil(9).size(), 1u) << "and then forgotten like all others";
  EXPECT_TRUE(page_.View()->nodes().empty());
}

TEST_F(ServiceYellowPageTest, AControlServiceIsCalledAtTheControlEndpoint) {
  const ServiceName control("neptune.x");
  Announcement announcement = Of("a", 1);
  announcement.control_endpoint = {kLoopbackAddress, 4002};
  announcement.services.push_back({control, 1, "x", {kFirst}, true});
  page_.Receive(announcement, At(0));
  const auto view = page_.View();
  EXPECT_EQ(view->Replicas(control, kFirst).at(0).call_endpoint, announcement.control_endpoint);
  EXPECT_EQ(view->Replicas(kEcho, kFirst).at(0).call_endpoint, announcement.call_endpoint);
}

TEST_F(ServiceYellowPageTest, ASilentControlEndpointIsDoubtedToo) {
  Announcement announcement = Of("a", 1);
  announcement.control_endpoint = {kLoopbackAddress, 4002};
  page_.Receive(announcement, At(0));
  EXPECT_TRUE(page_.Quarantine(announcement.control_endpoint, At(0.5)));
  const std::vector<Silent> silent = MaintainUntil(3);
  ASSERT_EQ(silent.size(), 1u);
  EXPECT_EQ(silent[0].control_endpoint, announcement.control_endpoint);
  EXPECT_TRUE(page_.IsSilent(announcement.control_endpoint));
}

TEST_F(ServiceYellowPageTest, LateDoubtDoesNotPutOffTheEndOfASilence) {
  page_.Receive(Of("a", 1), At(0));
  EXPECT_TRUE(page_.Quarantine({kLoopbackAddress, 4000}, At(4.9)));
  MaintainUntil(9);
  EXPECT_EQ(silent_at_, At(5.5));
  EXPECT_TRUE(page_.View()->nodes().empty());
}

TEST_F(ServiceYellowPageTest, DoubtedNodeThatAnswersIsOffered) {
  page_.Receive(Of("a", 1), At(0));
  page_.Quarantine({kLoopbackAddress, 4000}, At(1));
  MaintainUntil(2);
  page_.Receive(Of("a", 2), At(2), Via::kProbe);
  EXPECT_TRUE(MaintainUntil(6.9).empty());
  EXPECT_EQ(ReplicaCount(), 1u);
}

// Its announcements arrive, but messages to it do not.
TEST_F(ServiceYellowPageTest, DoubtedNodeThatIsOnlyHeardStaysOutUntilItAnswers) {
  page_.Receive(Of("a", 1), At(0));
  page_.Quarantine({kLoopbackAddress, 4000}, At(0.5));
  size_t silent_count = 0;
  for (int i = 1; i <= 10; ++i) {
    page_.Receive(Of("a", 1 + i), At(i));
    silent_count += MaintainUntil(i + 0.9).size();
  }
  EXPECT_EQ(silent_count, 1u) << "excluded once, not again each second";
  EXPECT_EQ(ReplicaCount(), 0u);
  page_.Receive(Of("a", 20), At(11), Via::kProbe);
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, RestartEndsADoubt) {
  page_.Receive(Of("a", 1), At(0));
  page_.Quarantine({kLoopbackAddress, 4000}, At(0.5));
  MaintainUntil(2);
  EXPECT_EQ(ReplicaCount(), 0u);
  page_.Receive(Of("a", 1, 2), At(2));
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, NodeHeardJustNowAndStrangersAreNotDoubted) {
  page_.Receive(Of("a", 1), At(1));
  EXPECT_FALSE(page_.Quarantine({kLoopbackAddress, 4000}, At(1.01)));
  EXPECT_FALSE(page_.Quarantine({kLoopbackAddress, 4444}, At(2)));
}

TEST_F(ServiceYellowPageTest, EarlierStartOutranksALaterOneOnlyIfItsProcessIsDead) {
  page_.Receive(Of("a", 1, 7), At(0));
  EXPECT_EQ(page_.Outranks(Of("a", 1, 8), At(4)), std::nullopt);
  EXPECT_EQ(page_.Outranks(Of("b", 1, 1), At(4)), std::nullopt);
  EXPECT_EQ(page_.Outranks(Of("a", 1, 6), At(1)), std::nullopt) << "the later one lives";
  EXPECT_EQ(page_.Outranks(Of("a", 1, 6), At(4)), 7u);
  Announcement goodbye = Of("a", 5, 7);
  goodbye.goodbye = true;
  page_.Receive(goodbye, At(5));
  EXPECT_EQ(page_.Outranks(goodbye, At(5)), std::nullopt);
  EXPECT_EQ(page_.Outranks(Of("a", 1, 6), At(5.1)), 7u);
  EXPECT_EQ(page_.Outranks(Of("a", 1, 6), At(15)), std::nullopt) << "forgotten by now";
}

TEST_F(ServiceYellowPageTest, GoodbyeIsImmediateAndLateAnnouncementsDoNotUndoIt) {
  page_.Receive(Of("a", 1), At(0));
  Announcement goodbye = Of("a", 5);
  goodbye.goodbye = true;
  EXPECT_EQ(page_.Receive(goodbye, At(1)), News::kMembers);
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_EQ(page_.Receive(Of("a", 4), At(1.1)), News::kNone);
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_EQ(page_.Receive(Of("a", 1, 2), At(1.2)), News::kNewNode)
      << "a restarted node is welcome at once";
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, ReorderedAndRepeatedAnnouncementsChangeNothing) {
  page_.Receive(Of("a", 5), At(0));
  EXPECT_EQ(page_.Receive(Of("a", 5), At(1)), News::kNone);
  EXPECT_EQ(page_.Receive(Of("a", 4), At(1)), News::kNone);
  EXPECT_EQ(page_.NextEvent(), At(5));
}

TEST_F(ServiceYellowPageTest, ExcludedNodeComesBackWhenHeardAgain) {
  page_.Receive(Of("a", 1), At(0));
  EXPECT_TRUE(page_.Exclude(NodeId("a"), At(0.5)));
  EXPECT_FALSE(page_.Exclude(NodeId("a"), At(0.5)));
  EXPECT_EQ(ReplicaCount(), 0u);
  page_.Receive(Of("a", 2), At(1));
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, ViewsInUseShowNewLoadsButNotNewPlaces) {
  EXPECT_EQ(page_.Receive(Of("a", 1), At(0)), News::kNewNode);
  const auto view = page_.View();
  Announcement busy = Of("a", 2);
  busy.load_index = 7;
  busy.sections[3] = "more";
  EXPECT_EQ(page_.Receive(busy, At(1)), News::kLoad);
  EXPECT_EQ(view->Replicas(kEcho, kFirst)[0].announced_load_index(), 7u);
  EXPECT_EQ(*view->Find(NodeId("a")), busy);
  EXPECT_EQ(page_.View()->version(), view->version());
  Announcement moved = Of("a", 3);
  moved.call_endpoint.port = 4005;
  EXPECT_EQ(page_.Receive(moved, At(2)), News::kMembers);
  EXPECT_EQ(view->Replicas(kEcho, kFirst)[0].call_endpoint.port, 4000);
  EXPECT_EQ(page_.View()->Replicas(kEcho, kFirst)[0].call_endpoint.port, 4005);
  EXPECT_EQ(view->Find(NodeId("b")), nullptr);
}

// Its partitions are looked up only later.
TEST_F(ServiceYellowPageTest, ViewIsOfTheMomentItWasMade) {
  page_.Receive(Of("a", 1), At(0));
  const auto before = page_.View();
  Announcement draining = Of("a", 2);
  draining.draining = true;
  EXPECT_EQ(page_.Receive(draining, At(1)), News::kMembers);
  page_.Receive(Of("b", 1), At(1));
  page_.Exclude(NodeId("b"), At(1));
  const auto after = page_.View();
  EXPECT_EQ(page_.Receive(Of("b", 2), At(2)), News::kMembers) << "it is offered again";
  EXPECT_EQ(before->Replicas(kEcho, kFirst).size(), 1u);
  EXPECT_TRUE(after->Replicas(kEcho, kFirst).empty());
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, DrainingNodeIsKnownButNotOffered) {
  Announcement draining = Of("a", 1);
  draining.draining = true;
  page_.Receive(draining, At(0));
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_EQ(page_.View()->nodes().size(), 1u);
}

// Each of them is remembered, so that a late announcement has no effect, up to the limit.
TEST_F(ServiceYellowPageTest, GoodbyesOfStrangersAreBounded) {
  for (size_t i = 0; i < 2 * kNodeCountMax; ++i) {
    Announcement goodbye = Of("n" + std::to_string(i), 5);
    goodbye.goodbye = true;
    page_.Receive(goodbye, At(1e-6 * static_cast<double>(i)));
  }
  EXPECT_EQ(page_.departure_count(), kNodeCountMax);
  Announcement late = Of("late", 1);
  late.goodbye = true;
  page_.Receive(late, At(11));
  EXPECT_EQ(page_.departure_count(), 1u) << "what is too old to matter is forgotten";
}

TEST_F(ServiceYellowPageTest, NodesBeyondTheLimitAreIgnoredAndCounted) {
  for (size_t i = 0; i < kNodeCountMax; ++i) page_.Receive(Of("n" + std::to_string(i), 1), At(0));
  EXPECT_EQ(page_.Receive(Of("one more", 1), At(0)), News::kNone);
  EXPECT_EQ(page_.ignored_count(), 1u);
}

}  // namespace
}  // namespace neptune
