#include "index/core/partition/partition.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "index/core/builder/index_builder.h"
#include "index/core/partition/collection_terms.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

using neptune::StatusCode;

constexpr MergePolicyOptions kEagerMerging = {.merge_count = 3, .documents_min = 4};

PartitionUpdate UpdateOf(const std::vector<TestDocument>& documents,
                         std::vector<uint64_t> deleted = {}) {
  PartitionUpdate update;
  for (const TestDocument& document : documents) update.documents.push_back(document.View());
  update.deleted = std::move(deleted);
  return update;
}

TestDocument Document(uint64_t doc_id, const std::string& body) {
  TestDocument document;
  document.doc_id = doc_id;
  document.body = body;
  return document;
}

uint64_t CountOf(const PartitionSnapshot& snapshot, const std::string& text) {
  const auto result = snapshot.Search(*ParseQuery(text), {.k = 0, .count_exactly = true});
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->total_is_exact);
  return result->total;
}

// Number of files and directories of the partition, except segments.
size_t FolderCount(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    count += entry.is_directory() ? 1 : 0;
  }
  return count;
}

class PartitionTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    partition_.reset();
    auto partition = Partition::Open({.directory = directory_, .merging = kEagerMerging});
    ASSERT_TRUE(partition.ok()) << partition.status();
    partition_ = std::move(*partition);
  }

  void MergeAll() {
    while (true) {
      const auto merged = partition_->Merge();
      ASSERT_TRUE(merged.ok()) << merged.status();
      if (!*merged) return;
    }
  }

  TemporaryFolder folder_;
  const std::string directory_ = folder_.path() + "/partition";
  std::unique_ptr<Partition> partition_;
};

TEST_F(PartitionTest, NewPartitionIsEmpty) {
  EXPECT_EQ(partition_->snapshot()->live_count(), 0U);
  EXPECT_EQ(CountOf(*partition_->snapshot(), "word"), 0U);
  EXPECT_FALSE(*partition_->Merge());
}

TEST_F(PartitionTest, DocumentsAreAddedReplacedAndDeleted) {
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(5, "cat"), Document(2, "dog")})).ok());
  const auto first = partition_->snapshot();
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(5, "bird"), Document(5, "horse")}, {2})).ok());
  const auto second = partition_->snapshot();
  EXPECT_EQ(CountOf(*first, "cat OR dog"), 2U);
  EXPECT_EQ(CountOf(*second, "cat OR dog OR bird"), 0U);
  EXPECT_EQ(CountOf(*second, "horse"), 1U);
  EXPECT_TRUE(first->Holds(2) && second->Holds(5));
  EXPECT_FALSE(second->Holds(2));
  EXPECT_GT(second->epoch(), first->epoch());
  ASSERT_TRUE(partition_->Update({.documents = {}, .deleted = {5, 99}}).ok());
  EXPECT_TRUE(partition_->snapshot()->parts().empty()) << "nothing lives, nothing is kept";
}

TEST_F(PartitionTest, RefusedUpdateChangesNothing) {
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(1, "cat")})).ok());
  const auto before = partition_->snapshot();
  TestDocument bad = Document(2, "dog");
  bad.static_rank = 7;
  EXPECT_EQ(partition_->Update(UpdateOf({bad}, {1})).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(partition_->snapshot(), before);
  EXPECT_EQ(FolderCount(directory_), 1U);
}

TEST_F(PartitionTest, FinishedSegmentIsMovedIn) {
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(1, "old"), Document(3, "old")})).ok());
  const std::string built = folder_.path() + "/built";
  auto builder = IndexBuilder::Create({.directory = built, .reorder = true});
  for (const uint64_t doc_id : {1, 2}) {
    ASSERT_TRUE((*builder)->Add({.doc_id = doc_id, .body = "new"}).ok());
  }
  ASSERT_TRUE((*builder)->Finish().ok());
  ASSERT_TRUE(partition_->AddSegment(built).ok());
  EXPECT_EQ(CountOf(*partition_->snapshot(), "new"), 2U);
  EXPECT_EQ(CountOf(*partition_->snapshot(), "old"), 1U);
  EXPECT_EQ(partition_->AddSegment(built).code(), StatusCode::kUnavailable) << "it is gone";
  EXPECT_EQ(CountOf(*partition_->snapshot(), "new"), 2U);
}

TEST_F(PartitionTest, SnapshotKeepsItsFilesUntilItGoes) {
  for (uint64_t doc_id = 1; doc_id <= 3; ++doc_id) {
    ASSERT_TRUE(partition_->Update(UpdateOf({Document(doc_id, "cat")})).ok());
  }
  auto before = partition_->snapshot();
  ASSERT_TRUE(*partition_->Merge());
  EXPECT_EQ(partition_->snapshot()->parts().size(), 1U);
  EXPECT_EQ(FolderCount(directory_), 4U);
  EXPECT_EQ(CountOf(*before, "cat"), 3U);
  before.reset();
  EXPECT_EQ(FolderCount(directory_), 1U);
  EXPECT_EQ(CountOf(*partition_->snapshot(), "cat"), 3U);
}

TEST_F(PartitionTest, LeftoversAreRemovedWhenOpened) {
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(1, "cat")})).ok());
  partition_.reset();
  std::filesystem::create_directories(directory_ + "/segment.77");
  std::ofstream(directory_ + "/segment.77/segment.new") << "half";
  std::ofstream(directory_ + "/terms.9") << "never committed";
  std::ofstream(directory_ + "/segment.1/live.4") << "never committed";
  Open();
  EXPECT_EQ(CountOf(*partition_->snapshot(), "cat"), 1U);
  EXPECT_EQ(FolderCount(directory_), 1U);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/terms.9"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/segment.1/live.4"));
}

TEST_F(PartitionTest, DamageIsRefusedWhenOpened) {
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(1, "cat")})).ok());
  ASSERT_TRUE(partition_->Update(UpdateOf({Document(2, "dog")})).ok());
  partition_.reset();
  std::filesystem::copy_file(directory_ + "/segment.1/segment", directory_ + "/segment.2/segment",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Partition::Open({.directory = directory_}).status().code(), StatusCode::kDataLoss);
  std::ofstream(directory_ + "/manifest") << "no manifest";
  EXPECT_EQ(Partition::Open({.directory = directory_}).status().code(), StatusCode::kDataLoss);
}

// Random changes against a map, and searches against one segment built from it under the same
// terms.
class PartitionModel {
 public:
  PartitionModel(uint64_t seed, std::string directory)
      : rng_(seed), pool_(ZipfDocuments(300, seed)), directory_(std::move(directory)) {}

  void Open() {
    partition_.reset();
    auto partition = Partition::Open({.directory = directory_ + "/partition",  //
                                      .merging = kEagerMerging});
    ASSERT_TRUE(partition.ok()) << partition.status();
    partition_ = std::move(*partition);
  }

  void Change() {
    std::vector<TestDocument> documents;
    std::vector<uint64_t> deleted;
    for (uint64_t i = rng_() % 4; i > 0; --i) deleted.push_back(AnyDocId());
    for (uint64_t i = rng_() % 8; i > 0; --i) {
      documents.push_back(pool_[rng_() % pool_.size()]);
      documents.back().doc_id = AnyDocId();
    }
    ASSERT_TRUE(partition_->Update(UpdateOf(documents, deleted)).ok());
    for (const uint64_t doc_id : deleted) living_.erase(doc_id);
    for (const TestDocument& document : documents) living_[document.doc_id] = document;
  }

  void Step() {
    switch (rng_() % 8) {
      case 0:
        ASSERT_TRUE(partition_->Merge().ok());
        break;
      case 1:
        Open();
        break;
      case 2:
        ASSERT_TRUE(partition_->CountTerms(directory_ + "/terms").ok());
        ASSERT_TRUE(partition_->UseTerms(directory_ + "/terms").ok());
        has_terms_ = true;
        break;
      default:
        Change();
    }
  }

  void Check() {
    const auto expected = BuildExpected();
    const auto snapshot = partition_->snapshot();
    ASSERT_EQ(snapshot->live_count(), living_.size());
    for (int i = 0; i < 12; ++i) {
      const std::string text = RandomQuery(pool_, [this] { return rng_(); });
      SCOPED_TRACE(text);
      const auto query = ParseQuery(text);
      ASSERT_TRUE(query.ok()) << query.status();
      const SearchOptions options = {.k = 1 + rng_() % 12, .count_exactly = rng_() % 2 == 0};
      const auto want = expected->searcher().Search(*query, options);
      const auto got = snapshot->Search(*query, options);
      ASSERT_TRUE(want.ok() && got.ok()) << got.status();
      ASSERT_EQ(got->hits, want->hits);
      if (options.count_exactly) {
        ASSERT_EQ(got->total, want->total);
      }
    }
  }

 private:
  uint64_t AnyDocId() { return 1 + rng_() % 120; }

  std::shared_ptr<const SearchableSegment> BuildExpected() {
    const std::string folder = directory_ + "/expected";
    auto builder = IndexBuilder::Create({.directory = folder});
    for (const auto& [doc_id, document] : living_) {
      EXPECT_TRUE((*builder)->Add(document.View()).ok());
    }
    EXPECT_TRUE((*builder)->Finish().ok());
    std::shared_ptr<const CollectionTerms> terms;
    if (has_terms_) terms = *CollectionTerms::Open(directory_ + "/terms");
    return *SearchableSegment::Create(*SegmentFolder::Open(folder, 1), terms.get(), {});
  }

  std::mt19937_64 rng_;
  const std::vector<TestDocument> pool_;
  const std::string directory_;
  std::unique_ptr<Partition> partition_;
  std::map<uint64_t, TestDocument> living_;
  bool has_terms_ = false;
};

TEST(PartitionModelTest, AnswersAsOneSegmentOfWhatLives) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    TemporaryFolder folder;
    PartitionModel model(seed, folder.path());
    model.Open();
    for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
      model.Step();
      if (step % 5 == 4) model.Check();
    }
  }
}

// Every update replaces two of ten documents; each reader finds ten, each once.
TEST_F(PartitionTest, ReadersSeeWholeUpdatesWhileSegmentsAreMerged) {
  constexpr uint64_t kUpdates = 40;
  std::vector<TestDocument> documents;
  for (uint64_t doc_id = 0; doc_id < 10; ++doc_id) documents.push_back(Document(doc_id, "all"));
  ASSERT_TRUE(partition_->Update(UpdateOf(documents)).ok());
  std::atomic<bool> done = false;
  std::atomic<int> torn_count = 0;
  std::atomic<int> merge_count = 0;
  std::thread reader([&] {
    while (!done) {
      const auto snapshot = partition_->snapshot();
      const auto all = snapshot->Search(*ParseQuery("all"), {.k = 10, .count_exactly = true});
      if (!all.ok() || all->total != 10 || snapshot->live_count() != 10) ++torn_count;
    }
  });
  std::thread merger([&] {
    while (!done) {
      const auto merged = partition_->Merge();
      if (!merged.ok()) ++torn_count;
      if (merged.value_or(false)) ++merge_count;
      std::this_thread::yield();
    }
  });
  for (uint64_t version = 1; version <= kUpdates; ++version) {
    const std::string word = "v" + std::to_string(version);
    EXPECT_TRUE(partition_
                    ->Update(UpdateOf({Document(version % 10, "all " + word),
                                       Document((version + 3) % 10, "all " + word)}))
                    .ok());
    EXPECT_EQ(CountOf(*partition_->snapshot(), word), 2U);
  }
  done = true;
  reader.join();
  merger.join();
  EXPECT_EQ(torn_count, 0);
  EXPECT_GT(merge_count, 0);
  MergeAll();
  Open();
  EXPECT_EQ(CountOf(*partition_->snapshot(), "all"), 10U);
}

}  // namespace
}  // namespace search::index
