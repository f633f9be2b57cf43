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

TEST(AnnouncementTest, RoundTrips) {
  Announcement announcement = Of("n1", 7);
  announcement.cluster = ClusterNumber("dev");
  announcement.draining = true;
  announcement.load_index = 12;
  announcement.cpu_load_permille = 800;
  announcement.sections[3] = "versions";
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
  size_t ReplicaCount() const { return page_.View()->Replicas(kEcho, kFirst).size(); }
  ServiceYellowPage page_;
};

TEST_F(ServiceYellowPageTest, ListsReplicasByPartitionInOrderOfNode) {
  page_.Hear(Of("b", 1), At(0));
  page_.Hear(Of("a", 1), At(0));
  const auto view = page_.View();
  ASSERT_EQ(view->Replicas(kEcho, kFirst).size(), 2u);
  EXPECT_EQ(view->Replicas(kEcho, kFirst)[0].node, NodeId("a"));
  EXPECT_EQ(view->Partitions(kEcho), (std::vector<PartitionId>{PartitionId(0), PartitionId(2)}));
  EXPECT_TRUE(view->Replicas(kEcho, PartitionId(1)).empty());
}

TEST_F(ServiceYellowPageTest, SilentNodeIsProbedAndForgottenWithoutAnswer) {
  page_.Hear(Of("a", 1), At(0));
  EXPECT_EQ(page_.NextEvent(), At(5));
  EXPECT_TRUE(page_.Suspect(At(4.9)).empty());
  ASSERT_EQ(page_.Suspect(At(5)).size(), 1u);
  EXPECT_TRUE(page_.Suspect(At(5.01)).empty());
  EXPECT_EQ(page_.NextEvent(), At(5.05));
  EXPECT_EQ(page_.Suspect(At(5.05)).size(), 1u) << "once more: the first may be lost";
  EXPECT_EQ(ReplicaCount(), 1u) << "a suspected node is still offered";
  EXPECT_TRUE(page_.Expire(At(5.4)).empty());
  EXPECT_EQ(page_.Expire(At(5.5)), std::vector<NodeId>{NodeId("a")});
  EXPECT_EQ(ReplicaCount(), 0u);
}

TEST_F(ServiceYellowPageTest, AnsweredProbeKeepsTheNode) {
  page_.Hear(Of("a", 1), At(0));
  page_.Suspect(At(5));
  page_.Hear(Of("a", 6), At(5.01));
  EXPECT_TRUE(page_.Expire(At(6)).empty());
  EXPECT_EQ(page_.NextEvent(), At(10.01));
}

TEST_F(ServiceYellowPageTest, GoodbyeIsImmediateAndLateAnnouncementsDoNotUndoIt) {
  page_.Hear(Of("a", 1), At(0));
  Announcement goodbye = Of("a", 5);
  goodbye.goodbye = true;
  EXPECT_TRUE(page_.Hear(goodbye, At(1)));
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_FALSE(page_.Hear(Of("a", 4), At(1.1)));
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_TRUE(page_.Hear(Of("a", 1, 2), At(1.2))) << "a restarted node is welcome at once";
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, ReorderedAndRepeatedAnnouncementsChangeNothing) {
  page_.Hear(Of("a", 5), At(0));
  EXPECT_FALSE(page_.Hear(Of("a", 5), At(1)));
  EXPECT_FALSE(page_.Hear(Of("a", 4), At(1)));
  EXPECT_EQ(page_.NextEvent(), At(5));
}

TEST_F(ServiceYellowPageTest, ExcludedNodeComesBackWhenHeardAgain) {
  page_.Hear(Of("a", 1), At(0));
  EXPECT_TRUE(page_.Exclude(NodeId("a"), At(0.5)));
  EXPECT_FALSE(page_.Exclude(NodeId("a"), At(0.5)));
  EXPECT_EQ(ReplicaCount(), 0u);
  page_.Hear(Of("a", 2), At(1));
  EXPECT_EQ(ReplicaCount(), 1u);
}

TEST_F(ServiceYellowPageTest, DrainingNodeIsKnownButNotOffered) {
  Announcement draining = Of("a", 1);
  draining.draining = true;
  page_.Hear(draining, At(0));
  EXPECT_EQ(ReplicaCount(), 0u);
  EXPECT_EQ(page_.View()->nodes().size(), 1u);
}

// Each of them is remembered, lest a late announcement undo it; but not more than the limit.
TEST_F(ServiceYellowPageTest, GoodbyesOfStrangersAreBounded) {
  for (size_t i = 0; i < 2 * kNodeCountMax; ++i) {
    Announcement goodbye = Of("n" + std::to_string(i), 5);
    goodbye.goodbye = true;
    page_.Hear(goodbye, At(1e-6 * static_cast<double>(i)));
  }
  EXPECT_EQ(page_.departure_count(), kNodeCountMax);
  Announcement late = Of("late", 1);
  late.goodbye = true;
  page_.Hear(late, At(11));
  EXPECT_EQ(page_.departure_count(), 1u) << "what is too old to matter is forgotten";
}

TEST_F(ServiceYellowPageTest, NodesBeyondTheLimitAreIgnoredAndCounted) {
  for (size_t i = 0; i < kNodeCountMax; ++i) page_.Hear(Of("n" + std::to_string(i), 1), At(0));
  EXPECT_FALSE(page_.Hear(Of("one more", 1), At(0)));
  EXPECT_EQ(page_.ignored_count(), 1u);
}

}  // namespace
}  // namespace neptune
