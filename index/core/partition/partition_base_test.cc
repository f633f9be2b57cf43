// Tests partitions over a published segment, whose files live as long as the partition.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "index/core/builder/index_builder.h"
#include "index/core/partition/changed_terms.h"
#include "index/core/partition/collection_terms.h"
#include "index/core/partition/partition.h"
#include "index/core/partition/published_counts.h"
#include "index/core/search/global_statistics.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

using neptune::StatusCode;
using Documents = std::map<uint64_t, TestDocument>;

constexpr MergePolicyOptions kEagerMerging = {.merge_count = 3, .documents_min = 4};

void BuildSegment(const Documents& documents, const std::string& folder) {
  auto builder = IndexBuilder::Create({.directory = folder});
  ASSERT_TRUE(builder.ok()) << builder.status();
  for (const auto& [doc_id, document] : documents) {
    ASSERT_TRUE((*builder)->Add(document.View()).ok());
  }
  ASSERT_TRUE((*builder)->Finish().ok());
}

std::unique_ptr<Partition> OpenOver(const std::string& base, const std::string& folder) {
  auto partition = Partition::Open({.directory = folder,
                                    .merging = kEagerMerging,
                                    .durability = Durability::kUnsynced,
                                    .base_directory = base});
  EXPECT_TRUE(partition.ok()) << partition.status();
  return partition.ok() ? std::move(*partition) : nullptr;
}

PartitionUpdate UpdateOf(const Documents& documents, const std::vector<uint64_t>& deleted = {}) {
  PartitionUpdate update;
  for (const auto& [doc_id, document] : documents) update.documents.push_back(document.View());
  update.deleted = deleted;
  return update;
}

TestDocument Document(uint64_t doc_id, const std::string& body) {
  TestDocument document;
  document.doc_id = doc_id;
  document.body = body;
  return document;
}

std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A collection of partitions over published segments that changes at random, with a model of its
// documents.
class LiveCollection {
 public:
  LiveCollection(uint64_t seed, size_t partition_count)
      : rng_(seed), pool_(ZipfDocuments(300, seed)), changed_(partition_count) {
    std::vector<Documents> published(partition_count);
    for (uint64_t doc_id = 0; doc_id < 60; ++doc_id) {
      living_[doc_id] = AnyDocument(doc_id);
      published[doc_id % partition_count][doc_id] = living_[doc_id];
    }
    std::vector<std::string> bases;
    for (size_t p = 0; p < partition_count; ++p) {
      BuildSegment(published[p], bases.emplace_back(Path("base", p)));
    }
    EXPECT_TRUE(ComputeGlobalStatistics(bases).ok());
    for (size_t p = 0; p < partition_count; ++p) {
      partitions_.push_back(OpenOver(bases[p], Path("live", p)));
    }
  }

  void Step() {
    const size_t p = rng_() % partitions_.size();
    switch (rng_() % 8) {
      case 0:
      case 1:
        ASSERT_TRUE(partitions_[p]->MergeSome(1 + rng_() % 200).ok());
        break;
      case 2:
        Reopen(p);
        break;
      default:
        Change(p);
    }
  }

  void RefreshStatistics() {
    std::vector<std::shared_ptr<const CollectionTerms>> counts;
    std::vector<const CollectionTerms*> parts;
    for (size_t p = 0; p < partitions_.size(); ++p) {
      ASSERT_TRUE(partitions_[p]->CountTerms(Path("terms", p)).ok());
      counts.push_back(*CollectionTerms::Open(Path("terms", p)));
      parts.push_back(counts.back().get());
    }
    ASSERT_TRUE(AddTerms(parts, Path("terms", partitions_.size())).ok());
    for (const auto& partition : partitions_) {
      ASSERT_TRUE(partition->UseTerms(Path("terms", partitions_.size())).ok());
    }
  }

  // Renews the statistics from the changed terms alone.
  void RenewStatistics() {
    ChangedTermsSum sum;
    for (const auto& partition : partitions_) {
      const auto changed = partition->CountChangedTerms(Path("scratch", 0));
      ASSERT_TRUE(changed.ok()) << changed.status();
      ASSERT_TRUE(sum.Add(*changed).ok());
    }
    for (const std::string& term : sum.UnknownTerms()) {
      for (const auto& partition : partitions_) {
        sum.LearnPublishedFrequency(term, *partition->PublishedFrequency(term));
      }
    }
    ASSERT_TRUE(WriteTerms(sum.Numbers(), Path("terms", 0)).ok());
    for (const auto& partition : partitions_) {
      ASSERT_TRUE(partition->UseTerms(Path("terms", 0)).ok());
    }
  }

  void MergeAll() {
    for (const auto& partition : partitions_) {
      while (true) {
        const auto merged = partition->Merge();
        ASSERT_TRUE(merged.ok()) << merged.status();
        if (!*merged) break;
      }
    }
  }

  // The live documents as one segment under the statistics of the first partition's base.
  std::shared_ptr<const SearchableSegment> OneSegmentUnderPublishedCounts() {
    const std::string folder = Path("one", build_count_++);
    BuildSegment(living_, folder);
    const auto counts = PublishedCounts::Open(*SegmentFolder::Borrow(Path("base", 0)));
    return *SearchableSegment::Create(*SegmentFolder::Borrow(folder), counts->get(), {});
  }

  // The live documents as a collection of its own with its own statistics.
  std::unique_ptr<TestCollection> OneIndex() const {
    std::vector<TestDocument> documents;
    for (const auto& [doc_id, document] : living_) documents.push_back(document);
    return *TestCollection::Build(documents, {});
  }

  SearchResult Search(const Query& query, const SearchOptions& options) const {
    SearchResult merged;
    for (size_t p = 0; p < partitions_.size(); ++p) {
      auto result = partitions_[p]->snapshot()->Search(query, options);
      EXPECT_TRUE(result.ok()) << result.status();
      merged = p == 0 ? std::move(*result) : MergeResults(merged, *result, options.k);
    }
    return merged;
  }

  using Oracle = std::function<neptune::StatusOr<SearchResult>(const Query&, const SearchOptions&)>;
  void ExpectAnswersOf(const Oracle& oracle) {
    for (int i = 0; i < 15; ++i) {
      const std::string text = RandomQuery(pool_, [this] { return rng_(); });
      SCOPED_TRACE(text);
      const auto query = ParseQuery(text);
      ASSERT_TRUE(query.ok()) << query.status();
      const SearchOptions options = {.k = 1 + rng_() % 12,
                                     .count_exactly = rng_() % 2 == 0,
                                     .second_phase_count = rng_() % 2 * 20};
      const auto want = oracle(*query, options);
      ASSERT_TRUE(want.ok()) << want.status();
      const SearchResult got = Search(*query, options);
      ASSERT_EQ(got.hits, want->hits);
      if (options.count_exactly) {
        ASSERT_EQ(got.total, want->total);
      }
    }
  }

  const Partition& partition(size_t p) const { return *partitions_[p]; }

 private:
  std::string Path(const std::string& name, size_t number) const {
    return folder_.path() + "/" + name + "." + std::to_string(number);
  }

  TestDocument AnyDocument(uint64_t doc_id) {
    TestDocument document = pool_[rng_() % pool_.size()];
    document.doc_id = doc_id;
    return document;
  }

  void Change(size_t p) {
    const auto any_id = [&] { return (rng_() % 50) * partitions_.size() + p; };
    Documents documents;
    std::vector<uint64_t> deleted;
    for (uint64_t i = rng_() % 3; i > 0; --i) {
      deleted.push_back(any_id());
      living_.erase(deleted.back());
      changed_[p].erase(deleted.back());
      gone_.push_back(deleted.back());
    }
    for (uint64_t i = rng_() % 6; i > 0; --i) {
      const uint64_t doc_id = any_id();
      documents[doc_id] = changed_[p][doc_id] = living_[doc_id] = AnyDocument(doc_id);
    }
    ASSERT_TRUE(partitions_[p]->Update(UpdateOf(documents, deleted)).ok());
  }

  // Simulates a restart: the owner applies the documents that it has kept.
  void Reopen(size_t p) {
    partitions_[p].reset();
    partitions_[p] = OpenOver(Path("base", p), Path("live", p));
    ASSERT_EQ(partitions_[p]->snapshot()->parts().size(), 1U);
    ASSERT_TRUE(partitions_[p]->Update(UpdateOf(changed_[p], gone_)).ok());
  }

  std::mt19937_64 rng_;
  const std::vector<TestDocument> pool_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  Documents living_;
  std::vector<Documents> changed_;  // by partition
  std::vector<uint64_t> gone_;
  size_t build_count_ = 0;
};

TEST(PartitionBaseTest, AnswersAsOneSegmentOfWhatLives) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    LiveCollection collection(seed, 1);
    for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
      collection.Step();
      if (step % 6 != 5) continue;
      const auto one = collection.OneSegmentUnderPublishedCounts();
      collection.ExpectAnswersOf([&](const Query& query, const SearchOptions& options) {
        return one->searcher().Search(query, options);
      });
    }
  }
}

TEST(PartitionBaseTest, PartitionsAgreeWithOneIndexOnceStatisticsAreRenewed) {
  for (uint64_t seed = 11; seed <= 14; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    LiveCollection collection(seed, 1 + seed % 4);
    for (int round = 0; round < 4 && !testing::Test::HasFatalFailure(); ++round) {
      for (int step = 0; step < 25; ++step) collection.Step();
      if (round % 2 == 0) {
        collection.RenewStatistics();
      } else {
        collection.RefreshStatistics();
      }
      const auto one = collection.OneIndex();
      const auto search = [&](const Query& query, const SearchOptions& options) {
        return one->Search(query, options);
      };
      collection.ExpectAnswersOf(search);
      collection.MergeAll();
      collection.ExpectAnswersOf(search);
    }
  }
}

class PartitionOverOneBaseTest : public testing::Test {
 protected:
  void SetUp() override {
    BuildSegment({{1, Document(1, "cat")}, {2, Document(2, "cat dog")}, {3, Document(3, "cat")}},
                 base_);
    ASSERT_TRUE(ComputeGlobalStatistics({base_}).ok());
    partition_ = OpenOver(base_, live_);
    ASSERT_NE(partition_, nullptr);
  }

  uint64_t CountOf(const std::string& text) const {
    return partition_->snapshot()->Search(*ParseQuery(text), {.count_exactly = true})->total;
  }

  TemporaryFolder folder_;
  const std::string base_ = folder_.path() + "/base";
  const std::string live_ = folder_.path() + "/live";
  std::unique_ptr<Partition> partition_;
};

TEST_F(PartitionOverOneBaseTest, ChangedTermsAreThoseOfTheChangesAlone) {
  const auto terms_of = [&] {
    const ChangedTerms changed = partition_->CountChangedTerms(live_ + "/scratch").value();
    std::map<std::string, int64_t> differences;
    for (const ChangedTerm& term : changed.terms) differences[term.key] = term.difference;
    return std::pair(changed.document_difference, differences.size());
  };
  EXPECT_EQ(terms_of(), std::pair(int64_t{0}, size_t{0}));
  ASSERT_TRUE(partition_->Update(UpdateOf({{2, Document(2, "dog cat")}})).ok());
  EXPECT_EQ(terms_of(), std::pair(int64_t{0}, size_t{0}));
  ASSERT_TRUE(partition_->Update(UpdateOf({{7, Document(7, "cat")}})).ok());
  EXPECT_EQ(terms_of(), std::pair(int64_t{1}, size_t{1}));
  ASSERT_TRUE(partition_->Update(UpdateOf({}, {2, 7})).ok());
  EXPECT_EQ(terms_of(), std::pair(int64_t{-1}, size_t{2}));
}

TEST(ChangedTermsSumTest, PartitionsOfDifferentCollectionsAreNotAdded) {
  ChangedTermsSum sum;
  ASSERT_TRUE(sum.Add({.published_document_count = 3}).ok());
  EXPECT_EQ(sum.Add({.published_document_count = 4}).code(), StatusCode::kFailedPrecondition);
}

TEST_F(PartitionOverOneBaseTest, NeverTouchesTheBase) {
  const std::vector<std::string> before = FilesBelow(base_);
  ASSERT_TRUE(partition_->Update(UpdateOf({{2, Document(2, "bird")}}, {1})).ok());
  while (*partition_->Merge()) {
  }
  EXPECT_EQ(CountOf("cat"), 1U);
  EXPECT_EQ(CountOf("bird"), 1U);
  partition_.reset();
  EXPECT_EQ(FilesBelow(base_), before);
  partition_ = OpenOver(base_, live_);
  EXPECT_EQ(CountOf("cat"), 3U);
  EXPECT_EQ(FilesBelow(live_).size(), 0U);
}

TEST_F(PartitionOverOneBaseTest, KeepsNoFileThatNobodyReads) {
  for (uint64_t doc_id = 10; doc_id < 40; ++doc_id) {
    ASSERT_TRUE(partition_->Update(UpdateOf({{doc_id, Document(doc_id, "bird")}})).ok());
    while (*partition_->Merge()) {
    }
  }
  EXPECT_EQ(CountOf("bird"), 30U);
  // One directory and one file for each segment except the base.
  EXPECT_LE(FilesBelow(live_).size(), 2 * partition_->snapshot()->parts().size());
}

TEST_F(PartitionOverOneBaseTest, WordsAreRankedByTheCountsOfTheBase) {
  ASSERT_TRUE(
      partition_->Update(UpdateOf({{7, Document(7, "cat")}, {8, Document(8, "dog")}})).ok());
  const auto score_of = [&](const std::string& word, uint64_t doc_id) {
    const auto result = partition_->snapshot()->Search(*ParseQuery(word), {});
    for (const Hit& hit : result->hits) {
      if (hit.doc_id == doc_id) return hit.score;
    }
    return -1.0F;
  };
  EXPECT_EQ(score_of("cat", 7), score_of("cat", 1));
  EXPECT_GT(score_of("dog", 8), score_of("cat", 7));
}

TEST_F(PartitionOverOneBaseTest, ABaseNeedsFilesThatAreNotKept) {
  EXPECT_EQ(Partition::Open({.directory = live_ + "2", .base_directory = base_}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(PartitionOverOneBaseTest, AMergeInPiecesLeavesWhatIsFoundAsItIs) {
  for (uint64_t doc_id = 10; doc_id < 13; ++doc_id) {
    ASSERT_TRUE(partition_->Update(UpdateOf({{doc_id, Document(doc_id, "bird fish")}})).ok());
  }
  int piece_count = 0;
  auto progress = partition_->MergeSome(1);
  for (; progress.ok() && *progress == MergeProgress::kUnderWay; ++piece_count) {
    EXPECT_EQ(CountOf("bird"), piece_count == 0 ? 3U : 2U);
    // A document deleted during the merge is not in the result.
    if (piece_count == 0) {
      ASSERT_TRUE(partition_->Update({.documents = {}, .deleted = {11}}).ok());
    }
    progress = partition_->MergeSome(1);
  }
  ASSERT_TRUE(progress.ok()) << progress.status();
  EXPECT_EQ(*progress, MergeProgress::kMerged);
  EXPECT_GE(piece_count, 3);
  EXPECT_EQ(CountOf("bird"), 2U);
  EXPECT_FALSE(partition_->snapshot()->Holds(11));
  EXPECT_EQ(*partition_->MergeSome(1), MergeProgress::kNothingToDo);
}

}  // namespace
}  // namespace search::index
