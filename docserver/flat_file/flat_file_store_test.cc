// What only this variant promises; the rest is in the conformance suite.

#include "docserver/flat_file/flat_file_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "docserver/flat_file/dictionary.h"
#include "docserver/flat_file/format.h"

namespace search::docserver::flat_file {
namespace {

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class FlatFileStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "flat_file_store_test." + std::to_string(getpid());
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // Documents whose texts have much in common, but little of it within one text.
  void Build(uint64_t count) const {
    DocumentStoreOptions options;
    options.mode = DocumentStoreOptions::Mode::kBuild;
    const auto store = OpenFlatFileStore(directory_, options);
    ASSERT_TRUE(store.ok()) << store.status();
    for (uint64_t id = 0; id < count; ++id) {
      const StoredDocument document = DocumentOf(id);
      ASSERT_TRUE((*store)->Put(std::span(&document, 1)).ok());
    }
    ASSERT_TRUE((*store)->Seal().ok());
  }

  static StoredDocument DocumentOf(uint64_t id) {
    std::mt19937_64 vocabulary(67);
    std::vector<std::string> words(500);
    for (std::string& word : words) word = std::to_string(vocabulary()) + " ";
    std::mt19937_64 random(id);
    StoredDocument document;
    document.set_doc_id(id);
    document.set_url("http://host/" + std::to_string(id));
    std::string text;
    while (text.size() < 1500) text += words[random() % words.size()];
    document.set_text(text);
    return document;
  }

  void ExpectAll(uint64_t count) const {
    const auto store = OpenFlatFileStore(directory_, {});
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_TRUE((*store)->Verify().ok()) << (*store)->Verify();
    for (uint64_t id = 0; id < count; ++id) {
      const auto fetched = (*store)->Fetch(std::span(&id, 1));
      ASSERT_TRUE(fetched.ok()) << fetched.status();
      ASSERT_TRUE((*fetched)[0]);
      EXPECT_EQ((*fetched)[0]->SerializeAsString(), DocumentOf(id).SerializeAsString());
    }
  }

  std::string DataPath() const { return directory_ + "/" + kDataFileName; }
  std::string IndexPath() const { return directory_ + "/" + kIndexFileName; }

  std::string directory_;
};

TEST_F(FlatFileStoreTest, SharesADictionary) {
  Build(800);  // more than is sampled
  const std::string data = ReadBytes(DataPath());
  const auto header = DecodeDataHeader(data);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->dictionary.size(), kDictionarySize);
  EXPECT_LT(data.size(), 800 * 1500 / 3);
  ExpectAll(800);
}

TEST_F(FlatFileStoreTest, HasNoDictionaryForFewDocuments) {
  Build(3);
  const auto header = DecodeDataHeader(ReadBytes(DataPath()));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->dictionary, "");
  ExpectAll(3);
}

// Version 1 is a store without a dictionary and without the place for one.
TEST_F(FlatFileStoreTest, ReadsVersionOne) {
  Build(20);
  std::string data = ReadBytes(DataPath());
  data.erase(kDataHeaderSize, kDictionaryHeaderSize);
  data[8] = 1;
  WriteBytes(DataPath(), data);
  const std::string index = ReadBytes(IndexPath());
  const auto view = IndexView::Open(index);
  ASSERT_TRUE(view);
  std::string entries;
  for (uint64_t i = 0; i < view->entry_count(); ++i) {
    IndexEntry entry = view->Entry(i);
    entry.block_offset -= kDictionaryHeaderSize;
    AppendIndexEntry(entry, &entries);
  }
  WriteBytes(IndexPath(), EncodeIndex(entries, data.size()));
  ExpectAll(20);
}

// Files that change while the store is open: what is fetched is right, missing or damage, and the
// store says that it cannot be believed.
TEST_F(FlatFileStoreTest, WrittenAndShortenedFilesAreNoticed) {
  Build(20);
  // Two changes within one tick of the kernel's clock look like one.
  const auto set_back = [&] {
    for (const std::string& path : {DataPath(), IndexPath()}) {
      const auto changed = std::filesystem::last_write_time(path);
      std::filesystem::last_write_time(path, changed - std::chrono::seconds(10));
    }
  };
  const auto expect_right_or_damaged = [&](const DocumentStore& store) {
    for (uint64_t id = 0; id < 20; ++id) {
      const auto fetched = store.Fetch(std::span(&id, 1));
      if (!fetched.ok()) {
        EXPECT_EQ(fetched.status().code(), neptune::StatusCode::kDataLoss);
      } else if ((*fetched)[0].has_value()) {
        EXPECT_EQ((*fetched)[0]->SerializeAsString(), DocumentOf(id).SerializeAsString());
      }
    }
    EXPECT_EQ(store.CheckSound().code(), neptune::StatusCode::kDataLoss);
  };
  for (const std::string& path : {DataPath(), IndexPath()}) {
    const std::string whole = ReadBytes(path);
    for (size_t at = 0; at < whole.size(); at += whole.size() / 100 + 1) {
      set_back();
      const auto store = OpenFlatFileStore(directory_, {});
      ASSERT_TRUE(store.ok()) << store.status();
      EXPECT_TRUE((*store)->CheckSound().ok());
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      const auto place = static_cast<std::streamoff>(at);
      file.seekp(place).put(static_cast<char>(whole[at] ^ 1)).flush();
      expect_right_or_damaged(**store);
      file.seekp(place).put(whole[at]).flush();
    }
    set_back();
    const auto store = OpenFlatFileStore(directory_, {});
    ASSERT_TRUE(store.ok()) << store.status();
    std::filesystem::resize_file(path, 0);
    expect_right_or_damaged(**store);
    WriteBytes(path, whole);
  }
}

TEST_F(FlatFileStoreTest, WhatWasJustReadIsInMemory) {
  Build(20);
  const auto store = OpenFlatFileStore(directory_, {});
  ASSERT_TRUE(store.ok()) << store.status();
  const std::vector<uint64_t> ids = {3, 17, 4711};  // the last one is in no store
  ASSERT_TRUE((*store)->Fetch(ids).ok());
  EXPECT_TRUE((*store)->IsInMemory(ids, kTextPieceSize));
  EXPECT_FALSE((*store)->IsInMemory(ids, SIZE_MAX)) << "a text may have further blocks";
}

TEST_F(FlatFileStoreTest, RefusesALaterVersion) {
  Build(3);
  std::string data = ReadBytes(DataPath());
  data[8] = 3;
  WriteBytes(DataPath(), data);
  EXPECT_EQ(OpenFlatFileStore(directory_, {}).status().code(), neptune::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace search::docserver::flat_file
