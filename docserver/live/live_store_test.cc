#include "docserver/live/live_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "docserver/registry.h"
#include "index/updates/document_change.h"
#include "index/updates/map_state.h"

namespace search::docserver {
namespace {

using neptune::StatusCode;

StoredDocument Document(uint64_t doc_id, const std::string& text) {
  StoredDocument document;
  document.set_doc_id(doc_id);
  document.set_url("http://host/" + std::to_string(doc_id));
  document.set_title("Title of " + text);
  document.set_text(text);
  document.set_site("host");
  return document;
}

index::PartitionChange UpsertOf(const StoredDocument& document, uint64_t version) {
  index::PartitionChange whole;
  index::DocumentChange& change = *whole.add_documents();
  change.set_doc_id(document.doc_id());
  change.set_version(version);
  change.mutable_upsert()->set_url(document.url());
  change.mutable_upsert()->set_title(document.title());
  change.mutable_upsert()->set_text(document.text());
  change.mutable_upsert()->set_site(document.site());
  return whole;
}

index::PartitionChange RemovalOf(uint64_t doc_id, uint64_t version) {
  index::PartitionChange whole;
  whole.add_documents()->set_doc_id(doc_id);
  whole.mutable_documents(0)->set_version(version);
  whole.mutable_documents(0)->mutable_removal();
  return whole;
}

// Runs over every variant.
class LiveStoreTest : public testing::TestWithParam<DocumentStoreVariant> {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("live_store." + std::string(GetParam().name) + "." + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    DocumentStoreOptions options;
    options.mode = DocumentStoreOptions::Mode::kBuild;
    const std::string folder = (root_ / "store").string();
    auto builder = GetParam().open(folder, options);
    ASSERT_TRUE(builder.ok()) << builder.status();
    for (uint64_t doc_id = 0; doc_id < 50; ++doc_id) {
      expected_[doc_id] = Document(doc_id, "published");
      ASSERT_TRUE((*builder)->Put(std::span(&expected_[doc_id], 1)).ok());
    }
    ASSERT_TRUE((*builder)->Seal().ok());
    builder->reset();
    auto published = GetParam().open(folder, DocumentStoreOptions());
    ASSERT_TRUE(published.ok()) << published.status();
    store_ = std::make_unique<LiveStore>(*std::move(published), &state_);
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(root_);
  }

  std::filesystem::path root_;
  index::MapState state_;
  std::map<uint64_t, StoredDocument> expected_;
  std::unique_ptr<LiveStore> store_;
};

TEST_P(LiveStoreTest, GivesTheNewestContentAtOnce) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    for (uint64_t step = 0; step < 60; ++step) {
      const uint64_t doc_id = random() % 70;
      const uint64_t version = seed * 100 + step;
      if (random() % 3 == 0) {
        ASSERT_TRUE(state_.Execute(RemovalOf(doc_id, version)).ok());
        expected_.erase(doc_id);
      } else {
        expected_[doc_id] = Document(doc_id, neptune::StrCat("version ", version));
        ASSERT_TRUE(state_.Execute(UpsertOf(expected_[doc_id], version)).ok());
      }
      std::vector<uint64_t> ids;
      for (int i = 0; i < 8; ++i) ids.push_back(random() % 75);
      ids.push_back(doc_id);
      const auto fetched = store_->Fetch(ids);
      ASSERT_TRUE(fetched.ok()) << fetched.status();
      for (size_t i = 0; i < ids.size(); ++i) {
        const auto want = expected_.find(ids[i]);
        ASSERT_EQ((*fetched)[i].has_value(), want != expected_.end()) << ids[i];
        if (want == expected_.end()) continue;
        EXPECT_EQ((*fetched)[i]->SerializeAsString(), want->second.SerializeAsString());
      }
    }
  }
}

TEST_P(LiveStoreTest, FindsAUrlByTheCurrentContent) {
  const auto change = [&](uint64_t doc_id, uint64_t version, const std::string& url) {
    StoredDocument document = Document(doc_id, "changed");
    document.set_url(url);
    ASSERT_TRUE(state_.Execute(UpsertOf(document, version)).ok());
  };
  const auto found = [&](const std::string& url) { return store_->FindUrl(url).value(); };
  const std::string published = expected_[7].url();
  EXPECT_EQ(found(published), 7U);
  EXPECT_EQ(found("http://nowhere/"), std::nullopt);
  change(7, 1, published);
  EXPECT_EQ(found(published), 7U);
  change(7, 2, "http://moved/");
  EXPECT_EQ(found(published), std::nullopt);
  EXPECT_EQ(found("http://moved/"), 7U);
  ASSERT_TRUE(state_.Execute(RemovalOf(7, 3)).ok());
  EXPECT_EQ(found("http://moved/"), std::nullopt);
  EXPECT_EQ(found(published), 7U);  // its number when it comes back
}

TEST_P(LiveStoreTest, KeepsTheLimitsAndRefusesToBeBuilt) {
  EXPECT_EQ(store_->Fetch(std::vector<uint64_t>(kFetchCountMax + 1)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Put({}).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->Seal().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->name(), GetParam().name);
  EXPECT_TRUE(store_->Verify().ok());
}

TEST_P(LiveStoreTest, AnErrorOfTheStateFailsTheFetch) {
  state_.FailReads(true);
  EXPECT_EQ(store_->Fetch(std::vector<uint64_t>{1}).status().code(), StatusCode::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Registered, LiveStoreTest,
                         testing::ValuesIn(RegisteredDocumentStores().begin(),
                                           RegisteredDocumentStores().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace search::docserver
