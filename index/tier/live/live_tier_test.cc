#include "index/tier/live/live_tier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "index/core/partition/changed_terms.h"
#include "index/core/partition/collection_terms.h"
#include "index/core/search/ranking.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"
#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "index/updates/change_state.h"
#include "index/updates/document_change.h"
#include "index/updates/map_state.h"

namespace search::index {
namespace {

using neptune::StatusCode;
using Documents = std::map<uint64_t, TestDocument>;

constexpr MergePolicyOptions kEagerMerging = {.merge_count = 3, .documents_min = 4};
constexpr uint64_t kIndexVersion = 17;

TestDocument Document(uint64_t doc_id, const std::string& body, float static_rank = 0) {
  TestDocument document;
  document.doc_id = doc_id;
  document.body = body;
  document.static_rank = static_rank;
  return document;
}

DocumentChange UpsertOf(const TestDocument& document, uint64_t version) {
  DocumentChange change;
  change.set_doc_id(document.doc_id);
  change.set_version(version);
  DocumentContent& content = *change.mutable_upsert();
  content.set_url("http://d/" + std::to_string(document.doc_id));
  content.set_title(document.title);
  content.set_text(document.body);
  content.set_extra_text(document.extra_text);
  content.set_site(document.site);
  content.set_static_rank(document.static_rank);
  content.set_language(document.language);
  content.set_date(document.date);
  return change;
}

DocumentChange RemovalOf(uint64_t doc_id, uint64_t version) {
  DocumentChange change;
  change.set_doc_id(doc_id);
  change.set_version(version);
  change.mutable_removal();
  return change;
}

StatisticsPiece StatisticsHead(uint64_t version) {
  StatisticsPiece head;
  head.set_version(version);
  head.set_index_version(kIndexVersion);
  head.set_change_count(10 * version);
  return head;
}

// Builds the partitions of one collection and seals each.
void BuildPartitions(const std::vector<Documents>& partitions,
                     const std::vector<std::string>& folders,
                     const std::string& variant = "segment") {
  for (size_t p = 0; p < partitions.size(); ++p) {
    const auto builder = CreateTierBuilder(variant, {.directory = folders[p]});
    ASSERT_TRUE(builder.ok()) << builder.status();
    for (const auto& [doc_id, document] : partitions[p]) {
      ASSERT_TRUE((*builder)->Add(document.View()).ok());
    }
    ASSERT_TRUE((*builder)->Finish().ok());
  }
  const auto finished = FinishTierCollection(variant, folders, {.index_version = kIndexVersion});
  ASSERT_TRUE(finished.ok()) << finished;
}

TierQuery TierQueryOf(const std::string& query, bool count_exactly = true) {
  TierQuery tier_query;
  tier_query.set_query(Canonical(*ParseQuery(query)));
  tier_query.set_hit_count_max(10);
  tier_query.set_count_exactly(count_exactly);
  return tier_query;
}

class LiveTierTest : public testing::Test {
 protected:
  void SetUp() override {
    BuildPartitions({{{1, Document(1, "cat", 0.25F)}, {2, Document(2, "cat dog")}}}, {base_});
    Open();
  }

  void Open() {
    tier_.reset();
    auto tier = LiveTier::Open(
        {.base_directory = base_, .working_directory = working_, .merging = kEagerMerging},
        &state_);
    ASSERT_TRUE(tier.ok()) << tier.status();
    tier_ = std::move(*tier);
  }

  void Apply(const DocumentChange& change) {
    PartitionChange whole;
    *whole.add_documents() = change;
    ASSERT_TRUE(state_.Execute(whole).ok());
    tier_->NoteChange(whole);
  }

  std::string Found(const std::string& query) const {
    const auto answer = tier_->Search(TierQueryOf(query), {});
    EXPECT_TRUE(answer.ok()) << answer.status();
    std::string found;
    for (const TierHit& hit : answer->hits()) found += std::to_string(hit.doc_id()) + " ";
    return found;
  }

  float ScoreOf(const std::string& query, uint64_t doc_id) const {
    const auto answer = tier_->Search(TierQueryOf(query), {});
    for (const TierHit& hit : answer->hits()) {
      if (hit.doc_id() == doc_id) return hit.score();
    }
    return -1;
  }

  TemporaryFolder folder_;
  const std::string base_ = folder_.path() + "/base";
  const std::string working_ = folder_.path() + "/working";
  MapState state_;
  std::unique_ptr<LiveTier> tier_;
};

TEST_F(LiveTierTest, AnswersAsThePublishedTierWhileNothingChanged) {
  const auto published = OpenIndexTier("segment", base_);
  ASSERT_TRUE(published.ok()) << published.status();
  for (const std::string query : {"cat", "dog OR cat", "cat -dog", "bird"}) {
    TierAnswer answer = tier_->Search(TierQueryOf(query), {}).value();
    EXPECT_EQ(answer.epoch(), 1U);
    answer.clear_epoch();
    EXPECT_EQ(answer.SerializeAsString(),
              (*published)->Search(TierQueryOf(query), {})->SerializeAsString());
  }
  EXPECT_EQ(tier_->Info().index_version, kIndexVersion);
  EXPECT_EQ(tier_->Info().document_count, 2U);
}

TEST_F(LiveTierTest, AChangeIsFoundFromTheNextRefreshOn) {
  Apply(UpsertOf(Document(2, "bird"), 1));
  Apply(UpsertOf(Document(9, "bird cat"), 1));
  Apply(RemovalOf(1, 1));
  EXPECT_EQ(Found("bird"), "");
  EXPECT_EQ(tier_->searchable_lsn(), 0U);
  EXPECT_TRUE(*tier_->Refresh());
  EXPECT_EQ(Found("cat"), "9 ");
  EXPECT_EQ(Found("bird"), "2 9 ");
  EXPECT_EQ(Found("dog"), "");
  EXPECT_EQ(tier_->searchable_lsn(), 3U);
  EXPECT_EQ(tier_->Info().document_count, 2U);
  EXPECT_FALSE(*tier_->Refresh());
}

TEST_F(LiveTierTest, TheEpochIsAnotherOnceOtherDocumentsAreFound) {
  const auto epoch = [&] { return tier_->Search(TierQueryOf("cat"), {})->epoch(); };
  const uint64_t before = epoch();
  Apply(UpsertOf(Document(9, "bird"), 1));
  EXPECT_EQ(epoch(), before);
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_NE(epoch(), before);
}

TEST_F(LiveTierTest, TheEpochOfDataThatWereLostAndBegunAnewIsAnotherThoughTheyCountAlike) {
  const auto epoch_after = [&](int64_t accepted_at_ns) {
    state_.BeginAnew();
    Open();
    EXPECT_EQ(tier_->Search(TierQueryOf("cat"), {})->epoch(), 1U);
    state_.SetTime({accepted_at_ns});
    Apply(UpsertOf(Document(9, "bird"), 1));
    EXPECT_TRUE(tier_->Refresh().ok());
    EXPECT_EQ(tier_->searchable_lsn(), 1U);
    return tier_->Search(TierQueryOf("cat"), {})->epoch();
  };
  EXPECT_NE(epoch_after(1000), epoch_after(2000));
}

TEST_F(LiveTierTest, AnOutdatedChangeChangesNothing) {
  Apply(UpsertOf(Document(2, "new"), 5));
  Apply(UpsertOf(Document(2, "old"), 4));
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_EQ(Found("new"), "2 ");
  EXPECT_EQ(Found("old"), "");
}

TEST_F(LiveTierTest, RanksAreGivenKeptOrNeutral) {
  DocumentChange kept = UpsertOf(Document(1, "fish"), 1);
  kept.mutable_upsert()->clear_static_rank();
  Apply(kept);
  DocumentChange neutral = UpsertOf(Document(8, "fish"), 1);
  neutral.mutable_upsert()->clear_static_rank();
  Apply(neutral);
  Apply(UpsertOf(Document(9, "fish", 1), 1));
  Apply(UpsertOf(Document(10, "fish", 0), 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  const float unranked = ScoreOf("fish", 10);
  const float weight = RankingOptions().static_rank_weight;
  EXPECT_NEAR(ScoreOf("fish", 1) - unranked, 0.25 * weight, 1e-3);
  EXPECT_NEAR(ScoreOf("fish", 8) - unranked, kNewDocumentRank * weight, 1e-3);
  EXPECT_NEAR(ScoreOf("fish", 9) - unranked, weight, 1e-3);
}

TEST_F(LiveTierTest, DocumentsOfTheStateAreSearchableWhenOpened) {
  Apply(UpsertOf(Document(9, "bird"), 1));
  Apply(RemovalOf(1, 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  Open();
  EXPECT_EQ(Found("bird"), "9 ");
  EXPECT_EQ(Found("cat"), "2 ");
  EXPECT_EQ(tier_->searchable_lsn(), 2U);
}

TEST_F(LiveTierTest, AnotherStateTakesTheOnesPlace) {
  Apply(UpsertOf(Document(9, "bird"), 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  PartitionChange nothing_known_of_nine;
  *nothing_known_of_nine.add_documents() = UpsertOf(Document(5, "bird"), 1);
  state_.Clear();
  ASSERT_TRUE(state_.Execute(nothing_known_of_nine).ok());
  tier_->NoteRestore();
  EXPECT_EQ(Found("bird"), "9 ");
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_EQ(Found("bird"), "5 ");
  EXPECT_EQ(tier_->searchable_lsn(), 2U);
}

TEST_F(LiveTierTest, AFailedRefreshLeavesTheChangesForTheNext) {
  Apply(UpsertOf(Document(9, "bird"), 1));
  state_.FailReads(true);
  EXPECT_EQ(tier_->Refresh().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Found("bird"), "");
  EXPECT_EQ(tier_->searchable_lsn(), 0U);
  state_.FailReads(false);
  EXPECT_TRUE(*tier_->Refresh());
  EXPECT_EQ(Found("bird"), "9 ");
  EXPECT_EQ(tier_->searchable_lsn(), 1U);
}

TEST_F(LiveTierTest, ARemovalThatIsForgottenBeforeARefreshIsMadeAllTheSame) {
  const uint64_t doc_id = kFirstHashedDocId + 1;
  Apply(UpsertOf(Document(doc_id, "bird"), 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_EQ(tier_->Search(TierQueryOf("bird"), {})->total(), 1U);
  Apply(RemovalOf(doc_id, 2));
  const neptune::WallTime later{1'600'000'000'000'000'000};
  state_.SetTime(later);
  Apply(UpsertOf(Document(9, "fish"), VersionAt(later)));
  ASSERT_FALSE(ReadChange(state_, doc_id)->has_value());
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_EQ(tier_->Search(TierQueryOf("bird"), {})->total(), 0U);
}

TEST_F(LiveTierTest, StatisticsOfThisIndexAreUsedAndOthersPassedOver) {
  const std::string path = folder_.path() + "/terms";
  ASSERT_TRUE(
      WriteTerms({.document_count = 100, .document_frequencies = {{"xcat", 50}}}, path).ok());
  std::stringstream file;
  file << std::ifstream(path, std::ios::binary).rdbuf();
  const auto use = [&](const StatisticsPiece& head, const std::string& bytes) {
    for (const PartitionChange& change : StatisticsChanges(head, bytes)) {
      ASSERT_TRUE(state_.Execute(change).ok());
      tier_->NoteChange(change);
    }
    ASSERT_TRUE(tier_->Refresh().ok());
  };
  EXPECT_EQ(tier_->statistics().version, 0U);
  const float before = ScoreOf("cat", 1);
  StatisticsPiece other = StatisticsHead(1);
  other.set_index_version(kIndexVersion + 1);
  use(other, file.str());
  EXPECT_EQ(tier_->statistics().version, 0U);
  use(StatisticsHead(2), "damaged");
  EXPECT_EQ(tier_->statistics().version, 0U);
  EXPECT_EQ(ScoreOf("cat", 1), before);
  use(StatisticsHead(3), file.str());
  EXPECT_EQ(tier_->statistics().version, 3U);
  EXPECT_EQ(tier_->statistics().change_count, 30U);
  EXPECT_NE(ScoreOf("cat", 1), before);
}

TEST_F(LiveTierTest, DamageUnderTheTierIsReportedAndMendedByBuildingItAgain) {
  const std::string path = base_ + "/segment";
  // Two changes within one tick of the kernel's clock look like one.
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) - std::chrono::seconds(10));
  Open();
  Apply(UpsertOf(Document(9, "bird cat"), 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  const std::string before = Found("cat");
  const auto flip = [&] {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto last = static_cast<std::streamoff>(std::filesystem::file_size(path)) - 1;
    const auto byte = static_cast<char>(file.seekg(last).get() ^ 1);
    file.seekp(last).put(byte).flush();
  };
  const auto code = [&] { return tier_->Search(TierQueryOf("cat"), {}).status().code(); };
  flip();
  EXPECT_EQ(code(), StatusCode::kDataLoss);
  EXPECT_EQ(tier_->Rebuild().code(), StatusCode::kDataLoss);
  EXPECT_EQ(code(), StatusCode::kDataLoss);
  flip();
  EXPECT_EQ(code(), StatusCode::kDataLoss) << "it was changed while it was in use";
  ASSERT_TRUE(tier_->Rebuild().ok());
  EXPECT_EQ(Found("cat"), before);
}

TEST_F(LiveTierTest, OtherVariantsRefuseChanges) {
  const std::string other = folder_.path() + "/other";
  BuildPartitions({{{1, Document(1, "cat")}}}, {other}, "rocksdb_postings");
  const auto opened =
      LiveTier::Open({.base_directory = other, .working_directory = working_ + "2"}, &state_);
  EXPECT_EQ(opened.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(LiveTier::Open({.base_directory = base_ + "none", .working_directory = working_ + "2"},
                           &state_)
                .status()
                .code(),
            StatusCode::kNotFound);
}

// Partitions of two tiers, random changes of them, and a model of the documents that they must
// hold.
class LiveCollection {
 public:
  LiveCollection(uint64_t seed, size_t partition_count)
      : random_(seed), pool_(ZipfDocuments(300, seed)), partitions_(2 * partition_count) {
    std::vector<Documents> published(partitions_.size());
    std::vector<std::string> folders;
    for (uint64_t doc_id = 0; doc_id < 80; ++doc_id) {
      living_[doc_id] = AnyDocument(doc_id);
      published[doc_id % published.size()][doc_id] = living_[doc_id];
    }
    for (size_t p = 0; p < partitions_.size(); ++p) folders.push_back(Path("base", p));
    BuildPartitions(published, folders);
    for (size_t p = 0; p < partitions_.size(); ++p) Open(p);
  }

  void Step() {
    Partition& partition = partitions_[random_() % partitions_.size()];
    switch (random_() % 8) {
      case 0:
      case 1:
        ASSERT_TRUE(partition.tier->MergeSome(1 + random_() % 300).ok());
        break;
      case 2:
        ASSERT_TRUE(partition.tier->Refresh().ok());
        break;
      case 3:
        if (random_() % 3 == 0) Open(static_cast<size_t>(&partition - partitions_.data()));
        break;
      default:
        Change();
    }
  }

  // Every partition counts its changes, and all receive the sum as changes.
  void RenewStatistics() {
    ChangedTermsSum sum;
    for (Partition& partition : partitions_) {
      ASSERT_TRUE(partition.tier->Refresh().ok());
      const auto changed = partition.tier->CountChangedTerms();
      ASSERT_TRUE(changed.ok()) << changed.status();
      ASSERT_TRUE(sum.Add(*changed).ok());
    }
    for (const std::string& term : sum.UnknownTerms()) {
      for (const Partition& partition : partitions_) {
        sum.LearnPublishedFrequency(term, *partition.tier->PublishedFrequency(term));
      }
    }
    ASSERT_TRUE(WriteTerms(sum.Numbers(), Path("terms", 0)).ok());
    std::stringstream file;
    file << std::ifstream(Path("terms", 0), std::ios::binary).rdbuf();
    ++statistics_version_;
    for (const PartitionChange& change :
         StatisticsChanges(StatisticsHead(statistics_version_), file.str())) {
      for (Partition& partition : partitions_) Apply(change, &partition);
    }
  }

  void ExpectAnswersOfOneIndex() {
    const std::string folder = Path("one", version_);
    BuildPartitions({living_}, {folder});
    const auto one = OpenIndexTier("segment", folder);
    ASSERT_TRUE(one.ok()) << one.status();
    for (const Partition& partition : partitions_) ASSERT_TRUE(partition.tier->Refresh().ok());
    for (int i = 0; i < 15; ++i) {
      const std::string text = RandomQuery(pool_, [this] { return random_(); });
      SCOPED_TRACE(text);
      TierQuery tier_query = TierQueryOf(text, random_() % 2 == 0);
      if (random_() % 2 == 0) tier_query.set_second_phase_count(20);
      TierAnswer want = (*one)->Search(tier_query, {}).value();
      TierAnswer got = partitions_[0].tier->Search(tier_query, {}).value();
      for (size_t p = 1; p < partitions_.size(); ++p) {
        got = MergeTierAnswers(got, partitions_[p].tier->Search(tier_query, {}).value(), 10);
      }
      got.clear_epoch();
      // Deleted documents count until a merge drops them.
      ASSERT_EQ(got.word_document_counts_size(), want.word_document_counts_size());
      for (int word = 0; word < want.word_document_counts_size(); ++word) {
        EXPECT_GE(got.word_document_counts(word), want.word_document_counts(word));
      }
      got.clear_word_document_counts();
      want.clear_word_document_counts();
      if (!tier_query.count_exactly()) {
        want.clear_total();
        got.clear_total();
        want.clear_total_is_exact();
        got.clear_total_is_exact();
      }
      ASSERT_EQ(got.SerializeAsString(), want.SerializeAsString());
    }
  }

 private:
  struct Partition {
    std::unique_ptr<MapState> state = std::make_unique<MapState>();
    std::unique_ptr<LiveTier> tier;
  };

  std::string Path(const std::string& name, size_t number) const {
    return folder_.path() + "/" + name + "." + std::to_string(number);
  }

  TestDocument AnyDocument(uint64_t doc_id) {
    TestDocument document = pool_[random_() % pool_.size()];
    document.doc_id = doc_id;
    return document;
  }

  void Open(size_t p) {
    Partition& partition = partitions_[p];
    partition.tier.reset();
    auto tier = LiveTier::Open({.base_directory = Path("base", p),
                                .working_directory = Path("working", p),
                                .merging = kEagerMerging},
                               partition.state.get());
    ASSERT_TRUE(tier.ok()) << tier.status();
    partition.tier = std::move(*tier);
  }

  static void Apply(const PartitionChange& change, Partition* partition) {
    ASSERT_TRUE(partition->state->Execute(change).ok());
    partition->tier->NoteChange(change);
  }

  // Documents move between the tiers: an upsert in one is a removal in the other.
  void Change() {
    const size_t partition_count = partitions_.size() / 2;
    const uint64_t doc_id = random_() % 100;
    const size_t p = 2 * (doc_id / 2 % partition_count);
    ++version_;
    const bool is_removed = random_() % 3 == 0;
    if (is_removed) {
      living_.erase(doc_id);
    } else {
      living_[doc_id] = AnyDocument(doc_id);
    }
    // Published documents are in all partitions; a change removes them from their former one.
    const size_t home = p + random_() % 2;
    for (size_t q = 0; q < partitions_.size(); ++q) {
      PartitionChange change;
      *change.add_documents() = q == home && !is_removed ? UpsertOf(living_[doc_id], version_)
                                                         : RemovalOf(doc_id, version_);
      Apply(change, &partitions_[q]);
    }
  }

  std::mt19937_64 random_;
  const std::vector<TestDocument> pool_;
  TemporaryFolder folder_;
  Documents living_;
  std::vector<Partition> partitions_;
  uint64_t version_ = 0;
  uint64_t statistics_version_ = 0;
};

TEST(LiveTierModelTest, PartitionsAgreeWithOneRebuiltIndexOnceStatisticsAreRenewed) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    LiveCollection collection(seed, 1 + seed % 3);
    for (int round = 0; round < 3 && !testing::Test::HasFatalFailure(); ++round) {
      for (int step = 0; step < 40; ++step) collection.Step();
      collection.RenewStatistics();
      collection.ExpectAnswersOfOneIndex();
    }
  }
}

TEST_F(LiveTierTest, ExplainsAndCountsWhatIsSearchableNow) {
  TestDocument changed = Document(2, "cat cat fig", 0.5F);
  changed.site = "git-doc";
  Apply(UpsertOf(changed, 1));
  Apply(RemovalOf(1, 1));
  TestDocument added = Document(30, "cat");
  added.site = "git";
  Apply(UpsertOf(added, 1));
  ASSERT_TRUE(tier_->Refresh().ok());

  ExplainQuery explain;
  explain.set_query("cat fig OR cat");
  for (const uint64_t doc_id : {1, 2, 30}) explain.add_doc_ids(doc_id);
  const auto explained = tier_->Explain(explain);
  ASSERT_TRUE(explained.ok()) << explained.status();
  ASSERT_EQ(explained->documents_size(), 2) << "the removed document is explained";
  for (const DocumentExplanation& document : explained->documents()) {
    EXPECT_EQ(document.score(), ScoreOf("cat fig OR cat", document.doc_id()));
  }

  FacetQuery facets;
  facets.set_query("cat");
  const auto counted = tier_->CountSites(facets, {});
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_TRUE(counted->is_complete());
  EXPECT_EQ(counted->total(), 2u);
  ASSERT_EQ(counted->values_size(), 2);
  EXPECT_EQ(counted->values(0).name(), "git");
  EXPECT_EQ(counted->values(0).document_count(), 1u);
  EXPECT_EQ(counted->values(1).name(), "git-doc");
}

TEST_F(LiveTierTest, FiltersAndOrdersByFieldsOfChangedDocuments) {
  const auto dated = [](uint64_t doc_id, const std::string& date, const std::string& language) {
    TestDocument document = Document(doc_id, "cat");
    document.date = date;
    document.language = language;
    return document;
  };
  Apply(UpsertOf(dated(2, "2023-05-01", "de"), 1));
  Apply(UpsertOf(dated(30, "2024-02-29", "en-US"), 1));
  Apply(UpsertOf(dated(31, "2024-02-28", "en"), 1));
  ASSERT_TRUE(tier_->Refresh().ok());
  EXPECT_EQ(Found("cat lang:en after:2024-02-29"), "30 ");
  EXPECT_EQ(Found("cat before:2024"), "2 ");
  EXPECT_EQ(Found("cat url:31"), "31 ");
  TierQuery newest = TierQueryOf("cat");
  newest.set_order_by_date(true);
  const auto expect_order = [&] {
    const auto answer = tier_->Search(newest, {});
    ASSERT_TRUE(answer.ok()) << answer.status();
    std::string found;
    for (const TierHit& hit : answer->hits()) found += std::to_string(hit.doc_id()) + " ";
    EXPECT_EQ(found, "30 31 2 1 ");
    EXPECT_EQ(answer->undated_count(), 1u);
  };
  expect_order();
  while (*tier_->MergeSome(1'000'000) != MergeProgress::kNothingToDo) continue;
  expect_order();
  EXPECT_EQ(Found("cat lang:en"), "30 31 ");

  const auto missing = tier_->Search(TierQueryOf("cat lang:fr after:2030"), {});
  ASSERT_TRUE(missing.ok()) << missing.status();
  ASSERT_EQ(missing->found_fields_size(), 2);
  EXPECT_EQ(missing->found_fields(0), "date");
  EXPECT_EQ(missing->found_fields(1), "lang");
}

// Every change replaces both of two documents; each reader finds both in one version.
TEST_F(LiveTierTest, SearchesSeeOneVersionWhileChangesAndMergesGoOn) {
  constexpr uint64_t kChanges = 60;
  const auto change_of = [](uint64_t version) {
    PartitionChange change;
    const std::string body = "all v" + std::to_string(version);
    *change.add_documents() = UpsertOf(Document(1, body), version);
    *change.add_documents() = UpsertOf(Document(30, body), version);
    return change;
  };
  const auto apply = [&](uint64_t version) {
    ASSERT_TRUE(state_.Execute(change_of(version)).ok());
    tier_->NoteChange(change_of(version));
    ASSERT_TRUE(tier_->Refresh().ok());
  };
  apply(1);
  std::atomic<bool> done = false;
  std::atomic<int> torn_count = 0;
  std::thread reader([&] {
    while (!done) {
      const auto all = tier_->Search(TierQueryOf("all"), {});
      if (!all.ok() || all->total() != 2) ++torn_count;
    }
  });
  std::thread merger([&] {
    while (!done) {
      if (!tier_->MergeSome(10).ok()) ++torn_count;
      std::this_thread::yield();
    }
  });
  for (uint64_t version = 2; version <= kChanges; ++version) {
    apply(version);
    EXPECT_EQ(tier_->Search(TierQueryOf("v" + std::to_string(version)), {})->total(), 2U);
    EXPECT_EQ(tier_->Search(TierQueryOf("v" + std::to_string(version - 1)), {})->total(), 0U);
  }
  done = true;
  reader.join();
  merger.join();
  EXPECT_EQ(torn_count, 0);
}

}  // namespace
}  // namespace search::index
