// Partitions in versions of the index, on a simulated node: each partition is a file with a text.

#include "index/versions/versioned_partitions.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/capsule/device_call.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"

namespace search::index {
namespace {

using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct TextPartition {
  StatusOr<std::string> text = neptune::Unavailable("not opened");
  std::string path;
  Status damage;

  Status State() const { return damage.ok() ? text.status() : damage; }
  void NoteFailure(const Status& why) {
    if (damage.ok()) {
      text = why;
    } else {
      damage = why;
    }
  }
  bool NoteDamage(const Status& found) {
    if (!State().ok()) return false;
    damage = found;
    return true;
  }
  // Reads the file once, and finds the text "decayed" to be damage.
  FileChecks::Check StartCheck() const {
    return [path = path, is_read = false](size_t) mutable -> StatusOr<size_t> {
      if (std::exchange(is_read, true)) return size_t{0};
      NEPTUNE_ASSIGN_OR_RETURN(const std::string now, neptune::ReadFile(path + "/text", 100));
      if (now == "decayed") return neptune::DataLoss("decayed");
      return now.size();
    };
  }
  bool WaitsForDisk() const { return text.ok() && *text == "on disk"; }
  PartitionFacts Facts(uint64_t version) const { return {"text", version, text.ok() ? 1u : 0u}; }
};

// What the test sees of a module.
struct Seen {
  VersionedPartitions<TextPartition>* partitions = nullptr;
  const neptune::StatusSections* status = nullptr;
  const char* changing = nullptr;
};

class TextModule final : public neptune::ServiceModule {
 public:
  explicit TextModule(Seen* seen) : seen_(seen) { seen_->partitions = &partitions_; }

  void DeclareParameters(neptune::ParameterTable& table) override {
    partitions_.DeclareParameters(table);
  }
  Status Start(neptune::ModuleContext& context) override {
    seen_->status = &context.status;
    NEPTUNE_RETURN_IF_ERROR(
        partitions_.Start(context, seen_->changing, [](PartitionId, const std::string& directory) {
          auto partition = std::make_unique<TextPartition>();
          partition->path = directory;
          partition->text = neptune::ReadFile(directory + "/text", 100);
          if (partition->text.ok() && *partition->text == "decayed") {
            partition->text = neptune::DataLoss("a damaged file");
          }
          return partition;
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

  // Lists these versions: `a` has the number 1, `b` 2, and so on. The first one is current.
  void WriteList(const std::vector<std::string>& names) {
    const auto version = [](const std::string& name) {
      return IndexVersion{name, name, static_cast<uint64_t>(name[0] - 'a' + 1)};
    };
    VersionList list = *FirstVersionList(version(names[0]));
    for (size_t i = 1; i < names.size(); ++i) list = *AddVersion(list, version(names[i]));
    WriteList(std::move(list));
  }
  void WriteList(VersionList list) {
    list.change = ++change_;
    Write("versions.json", VersionListJson(list));
  }
  // Writes the list, and starts a node that follows it.
  Status StartWithList(const std::vector<std::string>& names) {
    WriteList(names);
    return Start(Parameter("path", "p") + Parameter("versions", "versions.json"));
  }

  // Serves a request that waits for the text of partition 0; the result is set once it has ended.
  struct Awaited {
    bool has_ended = false;
    StatusOr<std::string> text = neptune::Internal("not ended");
    neptune::Duration took{0};
  };
  std::shared_ptr<Awaited> Await(uint64_t version, neptune::Duration timeout) {
    auto awaited = std::make_shared<Awaited>();
    nodes_.node("n").RunOnControl([this, awaited, version, timeout] {
      const neptune::TimePoint begin = simulator_.now();
      const neptune::RequestContext context({.deadline = begin + timeout}, nullptr,
                                            simulator_.host("n"));
      const auto partition = seen_.partitions->Await(context, version);
      awaited->text = partition.ok() ? (*partition)->text : partition.status();
      awaited->took = simulator_.now() - begin;
      awaited->has_ended = true;
    });
    simulator_.RunFor(milliseconds(1));
    return awaited;
  }
  std::string PathOf(const std::string& file) const {
    return (std::filesystem::path(folder_) / file).lexically_normal().string();
  }
  // The capsule in which reads of the file wait; empty: none.
  std::string CapsuleOf(const std::string& file) const {
    const std::string path = PathOf(file);
    const auto capsule = seen_.partitions->capsules().Find(neptune::DeviceOperation{path});
    return capsule == nullptr ? "" : capsule->name();
  }

  std::string folder_;
  uint64_t change_ = 0;
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

TEST_F(VersionedPartitionsTest, RequestGetsThePartitionOfTheVersionThatItNames) {
  for (const std::string name : {"a", "b"}) Write(name + "/p/0/text", name);
  ASSERT_TRUE(StartWithList({"a", "b"}).ok());
  EXPECT_EQ(Await(1, seconds(1))->text.value(), "a");
  EXPECT_EQ(Await(2, seconds(1))->text.value(), "b");
  EXPECT_EQ(Await(0, seconds(1))->text.value(), "a") << "the current version";
}

TEST_F(VersionedPartitionsTest, RequestWaitsForAVersionThatIsAboutToBeOpened) {
  Write("a/p/0/text", "a");
  ASSERT_TRUE(StartWithList({"a"}).ok());
  const auto awaited = Await(2, seconds(10));
  EXPECT_FALSE(awaited->has_ended);
  Write("b/p/0/text", "b");
  WriteList({"a", "b"});
  simulator_.RunFor(2 * kVersionLookInterval);
  ASSERT_TRUE(awaited->has_ended);
  EXPECT_EQ(awaited->text.value(), "b");
}

TEST_F(VersionedPartitionsTest, VersionThatIsNotOpenedInTimeIsUnavailable) {
  Write("a/p/0/text", "a");
  ASSERT_TRUE(StartWithList({"a"}).ok());
  const auto awaited = Await(9, seconds(10));
  simulator_.RunFor(kVersionAwaitMax);
  ASSERT_TRUE(awaited->has_ended);
  EXPECT_EQ(awaited->text.status().code(), neptune::StatusCode::kUnavailable);
  EXPECT_EQ(awaited->took, kVersionAwaitMax);
}

TEST_F(VersionedPartitionsTest, RequestDoesNotWaitBeyondItsDeadline) {
  Write("a/p/0/text", "a");
  ASSERT_TRUE(StartWithList({"a"}).ok());
  const auto awaited = Await(9, milliseconds(55));
  simulator_.RunFor(seconds(1));
  ASSERT_TRUE(awaited->has_ended);
  EXPECT_EQ(awaited->text.status().code(), neptune::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(awaited->took, milliseconds(55));
}

TEST_F(VersionedPartitionsTest, RequestForAPartitionThatIsNotServedFailsAtOnceWithTheReason) {
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  const auto awaited = Await(0, seconds(10));
  ASSERT_TRUE(awaited->has_ended);
  const Status status = awaited->text.status();
  EXPECT_EQ(status.code(), neptune::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("partition 0 is not served"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("p/0/text"), absl::string_view::npos) << status;
}

TEST_F(VersionedPartitionsTest, PartitionThatIsFoundDamagedIsNoLongerServedButTheOthersAre) {
  Write("p/0/text", "zero");
  Write("p/1/text", "one");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_EQ(Await(0, seconds(1))->text.value(), "zero");
  seen_.partitions->Current()->at(PartitionId(0))->text = neptune::DataLoss("a torn page");
  const Status status = Await(0, seconds(1))->text.status();
  EXPECT_EQ(status.code(), neptune::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("a torn page"), absl::string_view::npos) << status;
  EXPECT_EQ(Health(0).code(), neptune::StatusCode::kDataLoss);
  EXPECT_TRUE(Health(1).ok());
}

TEST_F(VersionedPartitionsTest, DamagedPartitionIsOpenedAgainOnceItsFilesAreSound) {
  Write("p/0/text", "zero");
  Write("p/1/text", "one");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  const auto damaged = seen_.partitions->Current()->at(PartitionId(0));
  Write("p/0/text", "decayed");
  seen_.partitions->NoteDamage(PartitionId(0), damaged, neptune::DataLoss("a torn page"));
  EXPECT_EQ(Health(0).code(), neptune::StatusCode::kDataLoss);
  EXPECT_TRUE(Health(1).ok());
  simulator_.RunFor(seconds(5));
  EXPECT_EQ(Health(0).code(), neptune::StatusCode::kDataLoss);
  EXPECT_NE(Health(0).message().find("a damaged file; it is opened again after"),
            absl::string_view::npos)
      << Health(0);
  EXPECT_EQ(damaged.use_count(), 1) << "its files are closed";
  Write("p/0/text", "mended");
  simulator_.RunFor(2 * kReopenDelayMax);
  EXPECT_TRUE(Health(0).ok()) << Health(0);
  EXPECT_EQ(CurrentText(0), "mended");
  EXPECT_EQ(CurrentText(1), "one");
}

TEST_F(VersionedPartitionsTest, PartitionThatIsMissingAtTheStartIsOpenedOnceItIsThere) {
  Write("p/0/text", "zero");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_FALSE(Health(1).ok());
  simulator_.RunFor(seconds(5));
  EXPECT_FALSE(Health(1).ok());
  Write("p/1/text", "one");
  simulator_.RunFor(2 * kReopenDelayMax);
  EXPECT_TRUE(Health(1).ok()) << Health(1);
  EXPECT_EQ(CurrentText(1), "one");
}

TEST_F(VersionedPartitionsTest, DamageThatSeveralRequestsFindIsMendedOnce) {
  Write("p/0/text", "zero");
  Write("p/1/text", "one");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  const auto damaged = seen_.partitions->Current()->at(PartitionId(0));
  for (int i = 0; i < 3; ++i) {
    seen_.partitions->NoteDamage(PartitionId(0), damaged, neptune::DataLoss("a torn page"));
  }
  simulator_.RunFor(seconds(20));
  EXPECT_TRUE(Health(0).ok());
  const auto report = seen_.status->Render("texts");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->facts[0].second, neptune::StatusCell(int64_t{1}));
  EXPECT_EQ(report->facts[1].second, neptune::StatusCell(int64_t{1}));
}

TEST_F(VersionedPartitionsTest, DamagedPartitionOfAVersionThatLeavesIsForgotten) {
  for (const std::string name : {"a", "b"}) {
    Write(name + "/p/0/text", name);
    Write(name + "/p/1/text", name);
  }
  ASSERT_TRUE(StartWithList({"a", "b"}).ok());
  const auto damaged = seen_.partitions->Current()->at(PartitionId(0));
  Write("a/p/0/text", "decayed");
  seen_.partitions->NoteDamage(PartitionId(0), damaged, neptune::DataLoss("a torn page"));
  WriteList({"b"});
  simulator_.RunFor(seconds(30));
  EXPECT_EQ(CurrentText(0), "b");
  EXPECT_TRUE(Health(0).ok());
}

TEST_F(VersionedPartitionsTest, FilesThatDecayAreFoundByTheSlowCheck) {
  Write("p/0/text", "zero");
  Write("p/1/text", "one");
  ASSERT_TRUE(Start(Parameter("path", "p") + Parameter("file_check_interval_s", "60")).ok());
  simulator_.RunFor(seconds(90));
  EXPECT_TRUE(Health(0).ok());
  Write("p/0/text", "decayed");
  simulator_.RunFor(seconds(90));
  EXPECT_EQ(Health(0).code(), neptune::StatusCode::kDataLoss);
  EXPECT_TRUE(Health(1).ok());
}

TEST_F(VersionedPartitionsTest, ReadsThatMayWaitForADiskHaveACapsule) {
  Write("p/0/text", "in memory");
  Write("p/1/text", "on disk");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_EQ(CapsuleOf("p/1/text"), "texts-store");
  EXPECT_EQ(CapsuleOf("elsewhere"), "");
}

TEST_F(VersionedPartitionsTest, ReadsThatWaitForNothingHaveNoCapsule) {
  Write("p/0/text", "in memory");
  ASSERT_TRUE(Start(Parameter("path", "p")).ok());
  EXPECT_EQ(CapsuleOf("p/0/text"), "");
}

TEST_F(VersionedPartitionsTest, EachVersionHasACapsuleUnlessOneCoversItsFolder) {
  Write("a/p/0/text", "on disk");
  ASSERT_TRUE(StartWithList({"a"}).ok());
  EXPECT_EQ(CapsuleOf("a/p/0/text"), "texts-store-a");
  ASSERT_TRUE(neptune::MakeDeviceCapsule(seen_.partitions->capsules(), "own", PathOf("c")).ok());
  for (const std::string name : {"b", "c"}) Write(name + "/p/0/text", "on disk");
  WriteList({"a", "b", "c"});
  simulator_.RunFor(2 * kVersionLookInterval);
  EXPECT_EQ(CapsuleOf("b/p/0/text"), "texts-store-b");
  EXPECT_EQ(CapsuleOf("c/p/0/text"), "own");
}

TEST_F(VersionedPartitionsTest, CapsuleOfAVersionIsGoneOnceItHasLeftTheList) {
  for (const std::string name : {"a", "b"}) Write(name + "/p/0/text", "on disk");
  ASSERT_TRUE(StartWithList({"a", "b"}).ok());
  EXPECT_EQ(CapsuleOf("a/p/0/text"), "texts-store-a");
  WriteList({"b"});
  simulator_.RunFor(2 * kVersionLookIntervalMax);
  EXPECT_EQ(CapsuleOf("a/p/0/text"), "");
  EXPECT_EQ(CapsuleOf("b/p/0/text"), "texts-store-b");
}

TEST_F(VersionedPartitionsTest, VersionThatTakesOverANameHasACapsuleForItsOwnFolder) {
  for (const std::string name : {"a", "b"}) Write(name + "/p/0/text", "on disk");
  ASSERT_TRUE(StartWithList({"a"}).ok());
  WriteList(*FirstVersionList({"a", "b", 2}));
  simulator_.RunFor(2 * kVersionLookIntervalMax);
  EXPECT_EQ(CapsuleOf("a/p/0/text"), "");
  EXPECT_EQ(CapsuleOf("b/p/0/text"), "texts-store-a");
}

TEST_F(VersionedPartitionsTest, StatusHasARowForEachPartitionOfEachVersion) {
  Write("a/p/0/text", "zero");
  Write("a/p/1/text", "one");
  Write("b/p/1/text", "one");
  ASSERT_TRUE(StartWithList({"a", "b"}).ok());
  const auto report = seen_.status->Render("texts");
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->tables.size(), 1u);
  const auto& rows = report->tables[0].rows;
  ASSERT_EQ(rows.size(), 4u);
  using Row = std::vector<neptune::StatusCell>;
  const auto number = [](int64_t value) { return neptune::StatusCell(value); };
  const auto serving = [&](int64_t partition, int64_t version) {
    return Row{number(partition), std::string("text"), number(version), number(1),
               std::string("serving")};
  };
  EXPECT_EQ(rows[0], serving(0, 1));
  EXPECT_EQ(rows[1], serving(1, 1));
  EXPECT_EQ(rows[3], serving(1, 2));
  ASSERT_EQ(rows[2].size(), report->tables[0].columns.size());
  EXPECT_EQ(rows[2][3], number(0));
  const auto* const state = std::get_if<std::string>(&rows[2][4]);
  ASSERT_NE(state, nullptr);
  EXPECT_NE(state->find("b/p/0/text"), std::string::npos) << *state;
}

}  // namespace
}  // namespace search::index
