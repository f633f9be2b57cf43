#include "index/tier/titles/title_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "index/core/testing/collection.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::StatusCode;
using neptune::StrCat;

class TitleTableTest : public testing::Test {
 protected:
  std::unique_ptr<TitleTableWriter> Writer() { return *TitleTableWriter::Create(folder_.path()); }
  std::unique_ptr<TitleTable> Table() {
    auto table = TitleTable::Open(folder_.path());
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }
  std::string Path() const { return StrCat(folder_.path(), "/", kTitleTableFileName); }

  TemporaryFolder folder_;
};

TEST_F(TitleTableTest, FindsWhatWasAdded) {
  std::mt19937_64 random(3);
  struct Owned {
    std::string url, title, site, public_url;
    TitledDocument View() const { return {url, title, site, public_url}; }
  };
  std::map<uint64_t, Owned> documents;
  const auto writer = Writer();
  uint64_t doc_id = 0;
  for (int i = 0; i < 500; ++i) {
    doc_id += 1 + random() % 4;
    Owned& document = documents[doc_id];
    document = {StrCat("https://", doc_id), std::string(random() % 300, 't'),
                random() % 2 == 0 ? "" : "site", i % 5 == 0 ? "é" : ""};
    ASSERT_TRUE(writer->Add(doc_id, document.View()).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  const auto table = Table();
  EXPECT_EQ(table->document_count(), documents.size());
  for (uint64_t id = 0; id < doc_id + 2; ++id) {
    const auto found = table->Find(id);
    const auto known = documents.find(id);
    ASSERT_EQ(found.has_value(), known != documents.end()) << id;
    if (!found) continue;
    EXPECT_EQ(*found, known->second.View()) << id;
  }
}

TEST_F(TitleTableTest, MayBeEmpty) {
  ASSERT_TRUE(Writer()->Finish().ok());
  EXPECT_EQ(Table()->document_count(), 0u);
  EXPECT_FALSE(Table()->Find(0));
}

TEST_F(TitleTableTest, LeavesOutWhatIsTooLongOrNoText) {
  const auto writer = Writer();
  const std::string longest(kTitleRecordSizeMax - 5, 'x');  // four sizes of one to two bytes
  const std::string longer(kTitleRecordSizeMax, 'x');
  ASSERT_TRUE(writer->Add(1, {.title = longest}).ok());
  ASSERT_TRUE(writer->Add(2, {.title = longer}).ok());
  ASSERT_TRUE(writer->Add(3, {.url = "\xff"}).ok());
  ASSERT_TRUE(writer->Add(4, {.url = "u"}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto table = Table();
  EXPECT_EQ(table->Find(1)->title, longest);
  EXPECT_FALSE(table->Find(2));
  EXPECT_FALSE(table->Find(3));
  EXPECT_EQ(table->Find(4)->url, "u");
}

TEST_F(TitleTableTest, RefusesDocumentsThatDoNotAscend) {
  const auto writer = Writer();
  ASSERT_TRUE(writer->Add(7, {}).ok());
  EXPECT_EQ(writer->Add(7, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer->Add(3, {}).code(), StatusCode::kInvalidArgument);
}

TEST_F(TitleTableTest, IsNotThereOrDamaged) {
  EXPECT_EQ(TitleTable::Open(folder_.path()).status().code(), StatusCode::kNotFound);
  const auto writer = Writer();
  ASSERT_TRUE(writer->Add(1, {.url = "u", .title = "a title"}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::string whole = *neptune::ReadFile(Path(), 1 << 20);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    std::ofstream(Path(), std::ios::binary | std::ios::trunc) << damaged;
    const auto table = TitleTable::Open(folder_.path());
    if (table.ok()) {  // a gap between sections, which no checksum covers
      EXPECT_EQ((*table)->Find(1)->title, "a title") << i;
    } else {
      EXPECT_EQ(table.status().code(), StatusCode::kDataLoss) << i;
    }
  }
}

// Bytes that change after the file was opened: what is found is a part of the file or nothing, and
// CheckSound says that the file was written.
TEST_F(TitleTableTest, WrittenFileIsNoticedAndReadWithinBounds) {
  const auto writer = Writer();
  for (uint64_t id = 1; id < 4; ++id) {
    ASSERT_TRUE(writer->Add(id, {.url = "u", .title = "a title"}).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  const std::string whole = *neptune::ReadFile(Path(), 1 << 20);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      // Two changes within one tick of the kernel's clock look like one.
      std::filesystem::last_write_time(
          Path(), std::filesystem::last_write_time(Path()) - std::chrono::seconds(10));
      const auto table = Table();
      ASSERT_TRUE(table->CheckSound().ok());
      std::fstream file(Path(), std::ios::binary | std::ios::in | std::ios::out);
      const auto place = static_cast<std::streamoff>(i);
      file.seekp(place).put(static_cast<char>(whole[i] ^ (1 << bit))).flush();
      for (uint64_t id = 0; id < 5; ++id) {
        const auto found = table->Find(id);
        if (found) {
          EXPECT_LE(found->title.size(), whole.size()) << i;
        }
      }
      EXPECT_EQ(table->CheckSound().code(), StatusCode::kDataLoss) << i;
      file.seekp(place).put(whole[i]).flush();
    }
  }
}

}  // namespace
}  // namespace search::index
