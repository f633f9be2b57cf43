#include "tools/publish/version_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "index/tier/registry.h"
#include "tools/build_index/build_journal.h"
#include "tools/publish/cluster_versions.h"

namespace search::tools {
namespace {

using neptune::StatusCode;

constexpr uint64_t kNumber = 77;

neptune::ClusterSpec Spec(const std::string& tier_parameters, uint32_t partition_count = 1) {
  const auto spec = neptune::ParseClusterSpec(
      "name: 'c' multicast_group: '239.192.7.3:7400' "
      "services { name: 'tier1' module: 'index_tier' partition_count: " +
          std::to_string(partition_count) + " " + tier_parameters +
          " } nodes { name: 'a' hosts { service: 'tier1' } }",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

std::string Parameter(const std::string& key, const std::string& value) {
  return "parameters { key: '" + key + "' value: '" + value + "' } ";
}

const std::string kVersioned = Parameter("path", "tier1") + Parameter("versions", "v.json");

// An index of one partition with one document.
class VersionCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    const std::string tier = folder_ + "/tier1/0";
    const auto builder = index::CreateTierBuilder("segment", {.directory = tier});
    ASSERT_TRUE((*builder)->Add({.doc_id = 1, .title = "cat"}).ok());
    ASSERT_TRUE((*builder)->Finish().ok());
    ASSERT_TRUE(index::FinishTierCollection("segment", {tier}, {.index_version = kNumber}).ok());
    manifest_.index_version = kNumber;
    manifest_.parts = {{"tier1", "segment", {{"tier1/0", 1}}}};
    for (const auto& entry : std::filesystem::directory_iterator(tier)) {
      manifest_.files.push_back(
          {"tier1/0/" + entry.path().filename().string(), *DigestFile(entry.path().string())});
    }
    ASSERT_TRUE(WriteIndexManifest(folder_, manifest_).ok());
  }

  neptune::Status Check() const { return CheckVersionFolder(folder_).status(); }
  std::string SomeFile() const { return folder_ + "/" + manifest_.files[0].path; }

  const std::string folder_ = testing::TempDir() + "/version_check";
  IndexManifest manifest_;
};

TEST_F(VersionCheckTest, WholeVersionIsTaken) {
  EXPECT_TRUE(Check().ok()) << Check();
  EXPECT_TRUE(FitsCluster(manifest_, Spec(kVersioned)).ok());
}

TEST_F(VersionCheckTest, FileThatWasNotCopiedToTheEndIsNamed) {
  std::filesystem::resize_file(SomeFile(), 3);
  EXPECT_EQ(Check().code(), StatusCode::kDataLoss);
  EXPECT_NE(Check().message().find(SomeFile() + " has 3 bytes of"), std::string_view::npos);
}

TEST_F(VersionCheckTest, MissingFileIsNamed) {
  std::filesystem::remove(SomeFile());
  EXPECT_NE(Check().message().find(SomeFile() + " is missing"), std::string_view::npos) << Check();
}

TEST_F(VersionCheckTest, FlippedBitIsFound) {
  std::fstream file(SomeFile(), std::ios::in | std::ios::out | std::ios::binary);
  char first = 0;
  file.get(first);
  file.seekp(0);
  file.put(static_cast<char>(first ^ 1));
  file.close();
  EXPECT_NE(Check().message().find(SomeFile() + " has another checksum than when it was built"),
            std::string_view::npos);
}

TEST_F(VersionCheckTest, SynonymsThatFrontendsCannotReadAreRefused) {
  const std::string path = folder_ + "/synonyms";
  std::ofstream(path) << "0.5: cat, kitten\n";
  EXPECT_TRUE(Check().ok()) << Check();
  std::ofstream(path) << "cat, kitten\n";
  EXPECT_EQ(Check().code(), StatusCode::kDataLoss);
  EXPECT_NE(Check().message().find(path + ": synonyms: line 1"), std::string_view::npos) << Check();
}

TEST_F(VersionCheckTest, FolderWithoutManifestIsNoIndex) {
  std::filesystem::remove(folder_ + "/manifest.json");
  EXPECT_EQ(Check().code(), StatusCode::kNotFound);
}

TEST_F(VersionCheckTest, PartitionOfAnotherVersionIsFound) {
  manifest_.index_version = kNumber + 1;
  ASSERT_TRUE(WriteIndexManifest(folder_, manifest_).ok());
  EXPECT_NE(Check().message().find("has version 77"), std::string_view::npos) << Check();
}

TEST_F(VersionCheckTest, ManifestThatLeadsOutsideIsRefused) {
  manifest_.files.push_back({"../../etc/passwd", {}});
  ASSERT_TRUE(WriteIndexManifest(folder_, manifest_).ok());
  EXPECT_EQ(Check().code(), StatusCode::kDataLoss);
}

TEST_F(VersionCheckTest, WhatTheClusterServesHasToBeThere) {
  EXPECT_FALSE(FitsCluster(manifest_, Spec(kVersioned, 2)).ok());
  EXPECT_FALSE(FitsCluster(manifest_, Spec(Parameter("path", "tier2"))).ok());
  EXPECT_FALSE(
      FitsCluster(manifest_, Spec(kVersioned + Parameter("implementation", "other"))).ok());
}

TEST(VersionsOfTest, ClusterSaysHowItServesVersions) {
  const auto cluster = VersionsOf(Spec(kVersioned));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->list, "v.json");
  ASSERT_EQ(cluster->services.size(), 1u);
  EXPECT_EQ(cluster->services[0].nodes, (std::set<std::string>{"a"}));
}

TEST(VersionsOfTest, ChangingDocumentsAndVersionsExcludeEachOther) {
  const neptune::Status status =
      VersionsOf(Spec(kVersioned + Parameter("live_path", "live"))).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("would be lost"), std::string_view::npos);
}

TEST(VersionsOfTest, ServiceOfOneVersionOnlyIsTold) {
  EXPECT_FALSE(VersionsOf(Spec(Parameter("path", "tier1"))).ok());
  EXPECT_FALSE(VersionsOf(Spec("")).ok());
}

TEST(VersionFactsTest, AreReadFromTheStatusPage) {
  const auto facts = ParseVersionFacts(
      R"({"sections":[{"facts":{"change":7,"current":"x","trouble":"y"},"tables":[]}]})");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->change, 7u);
  EXPECT_EQ(facts->current + facts->trouble, "xy");
  for (const char* text : {"", "{}", R"({"sections":[]})", R"({"sections":[{"facts":{}}]})"}) {
    EXPECT_FALSE(ParseVersionFacts(text).ok()) << text;
  }
}

}  // namespace
}  // namespace search::tools
