#include "frontend/http/version_synonyms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "index/core/query/query.h"

namespace search::frontend {
namespace {

class VersionSynonymsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/monday");
    std::filesystem::create_directories(folder_ + "/tuesday");
  }

  void Put(const std::string& version, const std::string& text) {
    std::ofstream(folder_ + "/" + version + "/synonyms") << text;
  }

  // What the question `pg` is read as in the version.
  std::string Asked(const std::string& version) const {
    const auto sets = synonyms_.Of(*list_.Find(version));
    index::Query query = *index::ParseQuestion("pg");
    if (sets != nullptr) sets->Expand(&query);
    return index::Canonical(query);
  }

  const std::string folder_ = testing::TempDir() + "/version_synonyms_test";
  VersionSynonyms synonyms_{folder_, "synonyms"};
  const index::VersionList list_ = {
      .current = "monday", .versions = {{"monday", "monday", 1}, {"tuesday", "tuesday", 2}}};
};

TEST_F(VersionSynonymsTest, EachVersionHasItsOwn) {
  Put("monday", "0.5: pg, psql\n");
  Put("tuesday", "0.25: pg, psql\n");
  ASSERT_TRUE(synonyms_.Follow(list_).ok());
  EXPECT_EQ(Asked("monday"), "pg OR psql^0.5");
  EXPECT_EQ(Asked("tuesday"), "pg OR psql^0.25");
}

TEST_F(VersionSynonymsTest, AVersionWithoutAFileHasNone) {
  Put("monday", "0.5: pg, psql\n");
  ASSERT_TRUE(synonyms_.Follow(list_).ok());
  EXPECT_EQ(Asked("tuesday"), "pg");
  VersionSynonyms unnamed(folder_, "");
  ASSERT_TRUE(unnamed.Follow(list_).ok());
  EXPECT_EQ(unnamed.Of(list_.versions[0]), nullptr);
}

TEST_F(VersionSynonymsTest, AVersionIsReadOnceAndAWrongFileAgain) {
  Put("monday", "0.5: pg, psql\n");
  Put("tuesday", "no share: pg, psql\n");
  const neptune::Status wrong = synonyms_.Follow(list_);
  EXPECT_EQ(wrong.code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.ToString().find("tuesday/synonyms"), std::string::npos) << wrong;
  EXPECT_EQ(Asked("monday"), "pg OR psql^0.5") << "the others are read";
  EXPECT_EQ(Asked("tuesday"), "pg");
  Put("monday", "0.1: pg, psql\n");
  Put("tuesday", "0.25: pg, psql\n");
  ASSERT_TRUE(synonyms_.Follow(list_).ok());
  EXPECT_EQ(Asked("monday"), "pg OR psql^0.5") << "a version does not change";
  EXPECT_EQ(Asked("tuesday"), "pg OR psql^0.25");
}

TEST_F(VersionSynonymsTest, WhatLeavesTheListIsForgotten) {
  Put("monday", "0.5: pg, psql\n");
  ASSERT_TRUE(synonyms_.Follow(list_).ok());
  ASSERT_TRUE(
      synonyms_.Follow({.current = "tuesday", .versions = {{"tuesday", "tuesday", 2}}}).ok());
  EXPECT_EQ(synonyms_.Of(*list_.Find("monday")), nullptr);
}

TEST_F(VersionSynonymsTest, WithoutAListTheFolderHasTheFile) {
  EXPECT_EQ(*synonyms_.ReadOnly(), nullptr);
  Put(".", "0.5: pg, psql\n");
  EXPECT_EQ((*synonyms_.ReadOnly())->set_count(), 1u);
  Put(".", "pg\n");
  EXPECT_FALSE(synonyms_.ReadOnly().ok());
}

}  // namespace
}  // namespace search::frontend
