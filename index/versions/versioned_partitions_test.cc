// Partitions in versions of the index, on a simulated node: each partition is a file with a text.

#include "index/versions/versioned_partitions.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "neptune/base/file.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"

namespace search::index {
namespace {

using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;

struct TextPartition {
  StatusOr<std::string> text;

  Status State() const { return text.status(); }
  bool WaitsForDisk() const { return false; }
  PartitionFacts Facts(uint64_t version) const { return {"text", version, text.ok() ? 1u : 0u}; }
};

// What the test sees of a module.
struct Seen {
  VersionedPartitions<TextPartition>* partitions = nullptr;
  const char* changing = nullptr;
};

class TextModule final : public neptune::ServiceModule {
 public:
  explicit TextModule(Seen* seen) : seen_(seen) { seen_->partitions = &partitions_; }

  void DeclareParameters(neptune::ParameterTable& table) override {
    partitions_.DeclareParameters(table);
  }
  Status Start(neptune::ModuleContext& context) override {
    NEPTUNE_RETURN_IF_ERROR(
        partitions_.Start(context, seen_->changing, [](PartitionId, const std::string& directory) {
          return std::make_unique<TextPartition>(
              TextPartition{neptune::ReadFile(directory + "/text", 100)});
        }));
    return partitions_.AddStatus(context, "texts");
  }
  void Stop() override { partitions_.Stop(); }
  std::string implementation() const override { return "text"; }

 private:
  Seen* const seen_;
  VersionedPartitions<TextPartition> partitions_;
};

class VersionedPartitionsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_) / file;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(neptune::WriteFileAtomically(path.string(), text).ok());
  }

  // Starts a node with the partitions 0 and 1.
  Status Start(const std::string& parameters) {
    const auto spec = neptune::ParseClusterSpec(
        "name: 't' multicast_group: '239.192.7.3:7000' services { name: 'texts' module: 'text' "
        "partition_count: 2 " +
            parameters + " } nodes { name: 'n' hosts { service: 'texts' } }",
        "test");
    if (!spec.ok()) return spec.status();
    spec_ = *spec;
    nodes_.AddAll(spec_);
    simulator_.RunFor(std::chrono::milliseconds(100));
    return started_;
  }
  neptune::NodeOptions MakeOptions() {
    return {.spec = spec_,
            .base_directory = folder_,
            .modules = [this](const std::string&) { return std::make_unique<TextModule>(&seen_); },
            .with_admin = false};
  }

  static std::string Parameter(const std::string& key, const std::string& value) {
    return "parameters { key: '" + key + "' value: '" + value + "' } ";
  }
  Status Health(uint32_t partition) const {
    return seen_.partitions->Health(PartitionId(partition));
  }
  std::string CurrentText(uint32_t partition) const {
    return *seen_.partitions->Current()->at(PartitionId(partition))->text;
  }

  std::string folder_;
  Seen seen_;
  neptune::ClusterSpec spec_;
  Status started_;
  neptune::SimulatedNodes nodes_{
      {.make_options = [this](const std::string&) { return MakeOptions(); },
       .on_start = [this](const std::string&, const Status& status) { started_ = status; }}};
  neptune::Simulator& simulator_ = nodes_.simulator();
};

TEST_F(VersionedPartitionsTest, OpensThePartitionsBelowThePath) {
  Write("p/0/text", "zero");
  Write("p/1/text", "one");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_EQ(CurrentText(0), "zero");
  EXPECT_EQ(CurrentText(1), "one");
  EXPECT_TRUE(Health(1).ok());
  EXPECT_EQ(Health(2).code(), neptune::StatusCode::kNotFound);
}

TEST_F(VersionedPartitionsTest, APartitionThatIsMissingIsNotServedButTheOthersAre) {
  Write("p/0/text", "zero");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_TRUE(Health(0).ok());
  EXPECT_NE(Health(1).message().find("p/1/text"), absl::string_view::npos) << Health(1);
}

TEST_F(VersionedPartitionsTest, ANewVersionOfTheListIsOpenedWhileTheNodeRuns) {
  Write("a/p/0/text", "old");
  Write("a/p/1/text", "old");
  VersionList list = *FirstVersionList({"a", "a", 1});
  Write("versions.json", VersionListJson(list));
  ASSERT_TRUE(Start(Parameter("path", "p") + Parameter("versions", "versions.json")).ok());
  EXPECT_EQ(CurrentText(0), "old");
  Write("b/p/0/text", "new");
  Write("b/p/1/text", "new");
  list = *MakeCurrent(*AddVersion(list, {"b", "b", 2}), "b");
  Write("versions.json", VersionListJson(list));
  simulator_.RunFor(2 * kVersionLookInterval);
  EXPECT_EQ(CurrentText(0), "new");
}

TEST_F(VersionedPartitionsTest, APartitionStaysOpenWhileItIsUsed) {
  Write("a/p/0/text", "old");
  VersionList list = *FirstVersionList({"a", "a", 1});
  Write("versions.json", VersionListJson(list));
  ASSERT_TRUE(Start(Parameter("path", "p") + Parameter("versions", "versions.json")).ok());
  const auto held = seen_.partitions->Current();
  Write("b/p/0/text", "new");
  Write("b/p/1/text", "new");
  list = *MakeCurrent(*AddVersion(list, {"b", "b", 2}), "b");
  list.previous.clear();
  Write("versions.json", VersionListJson(*RemoveVersion(list, "a")));
  simulator_.RunFor(2 * kVersionLookInterval);
  EXPECT_EQ(CurrentText(0), "new");
  EXPECT_EQ(*held->at(PartitionId(0))->text, "old");
}

TEST_F(VersionedPartitionsTest, AListExcludesDocumentsThatChange) {
  seen_.changing = "live";
  const Status both = Start(Parameter("path", "p") + Parameter("versions", "versions.json"));
  EXPECT_NE(both.message().find("parameters live and versions exclude each other"),
            both.message().npos)
      << both;
}

TEST_F(VersionedPartitionsTest, ThePathIsRequired) {
  const Status status = Start("");
  EXPECT_NE(status.message().find("service 'texts': the parameter 'path' is missing"),
            status.message().npos)
      << status;
}

}  // namespace
}  // namespace search::index
