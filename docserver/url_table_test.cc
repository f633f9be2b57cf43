#include "docserver/url_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

namespace search::docserver {
namespace {

using neptune::StatusCode;

class UrlTableTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  UrlTable Opened() { return *UrlTable::Open(folder_); }

  const std::string folder_ = neptune::StrCat(testing::TempDir(), "/url_table.", ::getpid());
};

TEST_F(UrlTableTest, FindsTheDocumentsOfAUrlAscending) {
  std::mt19937_64 random(1);
  std::map<std::string, std::set<uint64_t>> model;
  UrlTableWriter writer;
  for (int i = 0; i < 2000; ++i) {
    const std::string url = neptune::StrCat("http://host/", random() % 500);
    const uint64_t doc_id = random() % 3000;
    writer.Add(url, doc_id);
    model[url].insert(doc_id);
  }
  ASSERT_TRUE(writer.Write(folder_).ok());
  const UrlTable table = Opened();
  for (const auto& [url, doc_ids] : model) {
    EXPECT_EQ(table.Candidates(url), std::vector<uint64_t>(doc_ids.begin(), doc_ids.end())) << url;
  }
  EXPECT_TRUE(table.Candidates("http://host/nothing").empty());
}

TEST_F(UrlTableTest, MayBeEmptyOrAbsent) {
  EXPECT_EQ(UrlTable::Open(folder_).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(UrlTable::OpenIfThere(folder_)->has_value());
  ASSERT_TRUE(UrlTableWriter().Write(folder_).ok());
  EXPECT_TRUE(Opened().Candidates("a").empty());
}

TEST_F(UrlTableTest, LooksAtABoundedNumberOfCandidates) {
  UrlTableWriter writer;
  for (uint64_t doc_id = 0; doc_id < 2 * kUrlCandidatesMax; ++doc_id) writer.Add("a", doc_id);
  ASSERT_TRUE(writer.Write(folder_).ok());
  EXPECT_EQ(Opened().Candidates("a").size(), kUrlCandidatesMax);
}

TEST_F(UrlTableTest, AnyDamageIsFoundWhenItIsOpened) {
  UrlTableWriter writer;
  for (uint64_t doc_id = 0; doc_id < 5; ++doc_id) writer.Add(std::to_string(doc_id), doc_id);
  ASSERT_TRUE(writer.Write(folder_).ok());
  const std::string path = neptune::StrCat(folder_, "/", kUrlTableName);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(UrlTable::Open(folder_).status().code(), StatusCode::kDataLoss) << i;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, i);
    EXPECT_EQ(UrlTable::OpenIfThere(folder_).status().code(), StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace search::docserver
