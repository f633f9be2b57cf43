// Announcements by way of a folder: simulated nodes that lose it and find each other again, and
// files that are none of theirs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/escaping.h"
#include "neptune/base/file.h"
#include "neptune/base/metrics.h"
#include "neptune/base/strings.h"
#include "neptune/membership/file_channel.h"
#include "neptune/security/cluster_key.h"
#include "neptune/testing/simulated_cluster.h"
#include "tests/membership/channel_bed.h"
#include "tests/membership/known_nodes.h"

namespace neptune {
namespace {

using std::chrono::seconds;

constexpr int kServerCount = 5;
const std::set<std::string> kAll = {"c", "s0", "s1", "s2", "s3", "s4"};

// Is there as long as this.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::path(testing::TempDir()) / StrCat("nodes-", getpid())).string()) {
    Make();
  }
  ~TemporaryFolder() { Remove(); }
  void Make() const { std::filesystem::create_directories(path_); }
  void Remove() const { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

class FileClusterTest : public testing::Test {
 protected:
  ClusterSpec Spec() const {
    ClusterSpec spec = EchoSpec(kServerCount, 1);
    spec.clear_multicast_group();
    spec.mutable_membership()->set_directory("file:" + folder_.path());
    const Status status = CompleteClusterSpec(&spec);
    EXPECT_TRUE(status.ok()) << status;
    return spec;
  }
  bool AllKnow(const std::set<std::string>& expected, Duration limit) {
    return neptune::AllKnow(cluster_, expected, limit);
  }
  Simulator& simulator() { return cluster_.simulator(); }

  const TemporaryFolder folder_;
  SimulatedCluster cluster_{{.seed = 5, .spec = Spec()}};
};

TEST_F(FileClusterTest, NodesFindEachOtherAndOutliveTheirFolder) {
  ASSERT_TRUE(AllKnow(kAll, seconds(7)));
  // It is gone for two minutes: who lives stays, who dies goes.
  folder_.Remove();
  simulator().RunFor(seconds(60));
  EXPECT_TRUE(AllKnow(kAll, seconds(0)));
  simulator().Crash("s1");
  EXPECT_TRUE(AllKnow({"c", "s0", "s2", "s3", "s4"}, seconds(8)));
  simulator().RunFor(seconds(60));
  EXPECT_TRUE(AllKnow({"c", "s0", "s2", "s3", "s4"}, seconds(0)));
  // It is back, empty, and a node comes back too.
  folder_.Make();
  simulator().Restart("s1");
  EXPECT_TRUE(AllKnow(kAll, seconds(8)));
}

TEST_F(FileClusterTest, LeavingNodeIsKnownToHaveLeftAtTheNextLook) {
  ASSERT_TRUE(AllKnow(kAll, seconds(7)));
  bool stopped = false;
  cluster_.node("s2").Stop(seconds(1), [&] { stopped = true; });
  EXPECT_TRUE(AllKnow({"c", "s0", "s1", "s3", "s4"}, seconds(2)));
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return stopped; }, simulator().now() + seconds(5)));
}

TEST_F(FileClusterTest, FilesThatAreNoAnnouncementsAddNobody) {
  ASSERT_TRUE(AllKnow(kAll, seconds(7)));
  const std::string nodes = StrCat(folder_.path(), "/", Spec().name(), ".nodes/");
  for (const auto& [name, bytes] :
       {std::pair<std::string, std::string>{"noise", std::string(300, '\xa5')},
        {"text", "I am a node"},
        {"s1", "and so am I"},
        {"large", std::string(100'000, 'x')}}) {
    ASSERT_TRUE(WriteFileAtomically(StrCat(nodes, name, ".node"), bytes).ok());
  }
  simulator().RunFor(seconds(30));
  EXPECT_TRUE(AllKnow(kAll, seconds(0)));
}

std::shared_ptr<const ClusterKeys> KeysOf(int seed) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<char>(seed + 73 * i));
  auto keys = ClusterKeys::Parse(absl::BytesToHexString(bytes), "test");
  EXPECT_TRUE(keys.ok()) << keys.status();
  return std::make_shared<const ClusterKeys>(*std::move(keys));
}

TEST(FileChannelTest, WithAKeyHearsOnlyWhatIsSealedWithIt) {
  const TemporaryFolder folder;
  Simulator simulator(7);
  MetricsRegistry registry;
  const auto metrics = DirectoryMetrics::Make(registry);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const std::map<std::string, std::shared_ptr<const ClusterKeys>> keys = {
      {"a", KeysOf(1)}, {"b", KeysOf(1)}, {"stranger", KeysOf(2)}, {"plain", nullptr}};
  const auto bed = ChannelBed::MakeSimulated(
      simulator,
      [&](Loop& loop, uint32_t, const std::string& name, AnnouncementChannel::Handler handler) {
        FileChannelOptions options;
        options.folder = folder.path();
        options.node = name;
        options.keys = keys.at(name);
        if (name == "b") options.metrics = *metrics;
        return OpenFileChannel(loop, std::move(options), std::move(handler));
      });
  for (const auto& [name, key] : keys) bed->Add(name);
  for (const auto& [name, key] : keys) bed->Publish(name, "of " + name);
  ASSERT_TRUE(bed->AllHear({"b"}, "of a", seconds(2)));
  simulator.RunFor(seconds(3));
  EXPECT_EQ(bed->heard()["b"], (std::vector<std::string>{"of a", "of b"}));
  EXPECT_EQ(metrics->refused->value(), 2u);
  EXPECT_EQ(metrics->failures->value(), 0u);
}

TEST(FileChannelTest, SaysWhileItsFolderIsAway) {
  const TemporaryFolder folder;
  Simulator simulator(8);
  MetricsRegistry registry;
  const auto metrics = DirectoryMetrics::Make(registry);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const auto bed = ChannelBed::MakeSimulated(
      simulator,
      [&](Loop& loop, uint32_t, const std::string& name, AnnouncementChannel::Handler handler) {
        FileChannelOptions options;
        options.folder = folder.path() + "/x.nodes";
        options.node = name;
        options.metrics = *metrics;
        return OpenFileChannel(loop, std::move(options), std::move(handler));
      });
  bed->Add("a");
  EXPECT_EQ(metrics->available->value(), 1);
  folder.Remove();
  simulator.RunFor(seconds(2));
  bed->Publish("a", "lost");
  EXPECT_EQ(metrics->available->value(), 0);
  EXPECT_GT(metrics->failures->value(), 1u);
  folder.Make();
  simulator.RunFor(seconds(2));
  bed->Publish("a", "heard");
  EXPECT_TRUE(bed->AllHear({"a"}, "heard", seconds(2)));
  EXPECT_EQ(metrics->available->value(), 1);
}

}  // namespace
}  // namespace neptune
