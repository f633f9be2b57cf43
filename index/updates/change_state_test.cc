#include "index/updates/change_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "index/updates/document_change.h"
#include "index/updates/map_state.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::StatusCode;

DocumentChange Upsert(uint64_t doc_id, uint64_t version, const std::string& title) {
  DocumentChange change;
  change.set_doc_id(doc_id);
  change.set_version(version);
  change.mutable_upsert()->set_url("http://a/");
  change.mutable_upsert()->set_title(title);
  return change;
}

DocumentChange RemovalOf(uint64_t doc_id, uint64_t version) {
  DocumentChange change;
  change.set_doc_id(doc_id);
  change.set_version(version);
  change.mutable_removal();
  return change;
}

PartitionChange Of(const DocumentChange& change) {
  PartitionChange whole;
  *whole.add_documents() = change;
  return whole;
}

std::vector<PartitionChange> StatisticsOf(uint64_t version, const std::string& file) {
  StatisticsPiece head;
  head.set_version(version);
  head.set_index_version(17);
  head.set_change_count(10 * version);
  return StatisticsChanges(head, file);
}

uint64_t StatisticsVersion(const ChangeReader& state) {
  return StatisticsInUse(state).value().version();
}

std::string TitleOf(const MapState& state, uint64_t doc_id) {
  const auto change = ReadChange(state, doc_id);
  EXPECT_TRUE(change.ok()) << change.status();
  if (!change->has_value()) return "never changed";
  return (*change)->has_upsert() ? (*change)->upsert().title() : "removed";
}

TEST(ChangeStateTest, TheLargerVersionCountsWhicheverComesFirst) {
  MapState state;
  EXPECT_EQ(state.Execute(Of(Upsert(1, 5, "five")))->outdated_doc_ids_size(), 0);
  const auto answer = state.Execute(Of(Upsert(1, 4, "four")));
  ASSERT_EQ(answer->outdated_doc_ids_size(), 1);
  EXPECT_EQ(answer->outdated_doc_ids(0), 1U);
  EXPECT_EQ(TitleOf(state, 1), "five");
  ASSERT_TRUE(state.Execute(Of(RemovalOf(1, 6))).ok());
  EXPECT_EQ(state.Execute(Of(Upsert(1, 5, "late")))->outdated_doc_ids_size(), 1);
  EXPECT_EQ(TitleOf(state, 1), "removed");
  EXPECT_EQ(TitleOf(state, 2), "never changed");
}

TEST(ChangeStateTest, AChangeThatComesAgainChangesNothing) {
  MapState state;
  ASSERT_TRUE(state.Execute(Of(Upsert(1, 5, "five"))).ok());
  auto before = state.entries();
  ASSERT_TRUE(state.Execute(Of(Upsert(1, 5, "five"))).ok());
  auto after = state.entries();
  EXPECT_EQ(LastWrite(state)->lsn, 2U);
  before.erase("w");
  after.erase("w");
  EXPECT_EQ(after, before);
}

TEST(ChangeStateTest, AReplacedDocumentKeepsItsRank) {
  MapState state;
  DocumentChange ranked = Upsert(1, 1, "first");
  ranked.mutable_upsert()->set_static_rank(0.75F);
  ASSERT_TRUE(state.Execute(Of(ranked)).ok());
  ASSERT_TRUE(state.Execute(Of(Upsert(1, 2, "second"))).ok());
  EXPECT_EQ((*ReadChange(state, 1))->upsert().static_rank(), 0.75F);
  ASSERT_TRUE(state.Execute(Of(RemovalOf(1, 3))).ok());
  ASSERT_TRUE(state.Execute(Of(Upsert(1, 4, "third"))).ok());
  EXPECT_FALSE((*ReadChange(state, 1))->upsert().has_static_rank());
}

// Two partitions that execute the same changes in different orders agree.
TEST(ChangeStateTest, TheOrderOfChangesWithDifferentVersionsDoesNotMatter) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(neptune::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    std::vector<DocumentChange> changes;
    for (uint64_t version = 1; version <= 60; ++version) {
      const uint64_t doc_id = random() % 8;
      changes.push_back(random() % 3 == 0 ? RemovalOf(doc_id, version)
                                          : Upsert(doc_id, version, std::to_string(version)));
      if (changes.back().has_upsert()) changes.back().mutable_upsert()->set_static_rank(0.5F);
    }
    MapState in_order;
    for (const DocumentChange& change : changes) ASSERT_TRUE(in_order.Execute(Of(change)).ok());
    std::shuffle(changes.begin(), changes.end(), random);
    MapState shuffled;
    for (const DocumentChange& change : changes) ASSERT_TRUE(shuffled.Execute(Of(change)).ok());
    const auto without_count = [](std::map<std::string, std::string> entries) {
      entries.erase("c");  // a late change is not counted
      return entries;
    };
    EXPECT_EQ(without_count(shuffled.entries()), without_count(in_order.entries()));
  }
}

TEST(ChangeStateTest, ChangesAreVisitedInOrder) {
  MapState state;
  for (const uint64_t doc_id : {uint64_t{300}, uint64_t{2}, kFirstHashedDocId, uint64_t{256}}) {
    ASSERT_TRUE(state.Execute(Of(Upsert(doc_id, 1, "t"))).ok());
  }
  ASSERT_TRUE(state.Execute(StatisticsOf(1, "abc")[0]).ok());
  std::vector<uint64_t> visited;
  ASSERT_TRUE(VisitChanges(state, [&](const DocumentChange& change) {
                visited.push_back(change.doc_id());
                return neptune::OkStatus();
              }).ok());
  EXPECT_EQ(visited, (std::vector<uint64_t>{2, 256, 300, kFirstHashedDocId}));
}

TEST(ChangeStateTest, StatisticsCountOnceTheirLastPieceIsThere) {
  MapState state;
  EXPECT_EQ(StatisticsVersion(state), 0U);
  const std::string file(kStatisticsPieceSizeMax * 2 + 5, 'x');
  const auto pieces = StatisticsOf(3, file);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(state.Execute(pieces[1]).status().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(state.Execute(pieces[0]).ok());
  ASSERT_TRUE(state.Execute(pieces[1]).ok());
  EXPECT_EQ(StatisticsVersion(state), 0U);
  ASSERT_TRUE(state.Execute(pieces[2]).ok());
  EXPECT_EQ(StatisticsVersion(state), 3U);
  EXPECT_EQ(ReadStatistics(state)->data(), file);
}

TEST(ChangeStateTest, OnlyTheStatisticsInUseAreKept) {
  MapState state;
  ASSERT_TRUE(state.Execute(StatisticsOf(1, "one")[0]).ok());
  // Begun by a writer that disappeared.
  ASSERT_TRUE(
      state.Execute(StatisticsOf(2, std::string(kStatisticsPieceSizeMax + 1, 'x'))[0]).ok());
  ASSERT_TRUE(state.Execute(StatisticsOf(4, "four")[0]).ok());
  EXPECT_EQ(ReadStatistics(state)->data(), "four");
  EXPECT_EQ(state.entries().size(), 3U);  // including the last write
  ASSERT_TRUE(state.Execute(StatisticsOf(3, "three")[0]).ok());
  EXPECT_EQ(ReadStatistics(state)->data(), "four");
  EXPECT_EQ(state.entries().size(), 3U);  // including the last write
}

TEST(ChangeStateTest, StatisticsSayWhatTheyBelongTo) {
  MapState state;
  ASSERT_TRUE(state.Execute(StatisticsOf(3, "abc")[0]).ok());
  EXPECT_EQ(StatisticsInUse(state)->index_version(), 17U);
  EXPECT_EQ(StatisticsInUse(state)->change_count(), 30U);
}

TEST(ChangeStateTest, ChangesThatMayChangeWhatIsSearchableAreCounted) {
  MapState state;
  const auto count_after = [&](const DocumentChange& change) {
    EXPECT_TRUE(state.Execute(Of(change)).ok());
    return ChangeCount(state).value();
  };
  EXPECT_EQ(count_after(Upsert(1, 5, "five")), 1U);
  EXPECT_EQ(count_after(Upsert(1, 5, "five")), 1U);
  EXPECT_EQ(count_after(Upsert(1, 4, "late")), 1U);
  EXPECT_EQ(count_after(RemovalOf(1, 6)), 2U);
  EXPECT_EQ(count_after(RemovalOf(1, 7)), 2U);
  EXPECT_EQ(count_after(RemovalOf(2, 1)), 3U);  // the document may be a published one
  EXPECT_EQ(count_after(RemovalOf(kFirstHashedDocId + 2, 1)), 3U);
}

TEST(ChangeStateTest, ADocumentWithANumberOfItsOwnIsFoundByItsUrl) {
  MapState state;
  const auto upsert = [](uint64_t doc_id, uint64_t version, const std::string& url) {
    DocumentChange change = Upsert(doc_id, version, "t");
    change.mutable_upsert()->set_url(url);
    return change;
  };
  const auto found = [&](const std::string& url) { return FindChangedUrl(state, url).value(); };
  ASSERT_TRUE(state.Execute(Of(upsert(9, 1, "http://a/"))).ok());
  ASSERT_TRUE(state.Execute(Of(upsert(7, 1, "http://a/"))).ok());
  ASSERT_TRUE(state.Execute(Of(upsert(DocIdOfUrl("http://b/"), 1, "http://b/"))).ok());
  EXPECT_EQ(found("http://a/"), 7U);
  EXPECT_EQ(found("http://b/"), std::nullopt);  // its number shows its url
  ASSERT_TRUE(state.Execute(Of(upsert(7, 2, "http://c/"))).ok());
  EXPECT_EQ(found("http://a/"), 9U);
  EXPECT_EQ(found("http://c/"), 7U);
  ASSERT_TRUE(state.Execute(Of(upsert(7, 1, "http://a/"))).ok());  // too late
  EXPECT_EQ(found("http://c/"), 7U);
  ASSERT_TRUE(state.Execute(Of(RemovalOf(7, 3))).ok());
  ASSERT_TRUE(state.Execute(Of(RemovalOf(9, 3))).ok());
  EXPECT_EQ(found("http://a/"), std::nullopt);
  EXPECT_EQ(found("http://c/"), std::nullopt);
}

TEST(ChangeStateTest, DataThatWereBegunAnewHaveAnotherHistory) {
  const auto history_of = [](std::vector<int64_t> accepted_at) {
    MapState state;
    for (const int64_t ns : accepted_at) {
      state.SetTime({ns});
      EXPECT_TRUE(state.Execute(Of(Upsert(1, 5, "five"))).ok());
    }
    EXPECT_EQ(LastWrite(state)->lsn, accepted_at.size());
    return LastWrite(state)->history;
  };
  EXPECT_EQ(history_of({}), 0U);
  EXPECT_EQ(history_of({1, 2, 3}), history_of({1, 2, 3}));
  EXPECT_NE(history_of({1, 2, 3}), history_of({1, 2, 4}));
  EXPECT_NE(history_of({1, 2, 3}), history_of({7, 2, 3}));  // even if the later writes are equal
  EXPECT_NE(history_of({1, 2}), history_of({1, 2, 3}));
}

constexpr neptune::WallTime kBegin{1'600'000'000'000'000'000};

neptune::WallTime After(neptune::Duration time) {
  return {kBegin.ns_since_1970 + std::chrono::nanoseconds(time).count()};
}

// Another write at that time, by the primary's and the writer's clock.
void Touch(MapState* state, neptune::WallTime primarys, neptune::WallTime writers) {
  state->SetTime(primarys);
  ASSERT_TRUE(state->Execute(Of(Upsert(1, VersionAt(writers), "other"))).ok());
}

TEST(ChangeStateTest, RemovalsOfDocumentsThatNoIndexHoldsAreForgottenInTime) {
  MapState state;
  const uint64_t doc_id = kFirstHashedDocId + 5;
  const uint64_t removed = VersionAt(kBegin);
  state.SetTime(kBegin);
  ASSERT_TRUE(state.Execute(Of(RemovalOf(doc_id, removed))).ok());
  ASSERT_TRUE(state.Execute(Of(RemovalOf(6, removed))).ok());
  Touch(&state, After(kRemovalsKept), After(kRemovalsKept));
  EXPECT_EQ(TitleOf(state, doc_id), "removed");
  const neptune::WallTime later = After(kRemovalsKept + std::chrono::seconds(1));
  Touch(&state, later, kBegin);  // one clock alone does not count
  Touch(&state, kBegin, later);
  EXPECT_EQ(TitleOf(state, doc_id), "removed");
  Touch(&state, later, After(kRemovalsKept + std::chrono::seconds(2)));
  EXPECT_EQ(TitleOf(state, doc_id), "never changed");
  EXPECT_EQ(TitleOf(state, 6), "removed");  // the index may hold it
}

TEST(ChangeStateTest, AChangeOlderThanAForgottenRemovalIsRefusedAndANewerOneTaken) {
  MapState state;
  const uint64_t doc_id = kFirstHashedDocId + 5;
  const uint64_t removed = VersionAt(kBegin);
  ASSERT_TRUE(state.Execute(Of(RemovalOf(doc_id, removed))).ok());
  const neptune::WallTime later = After(2 * kRemovalsKept);
  Touch(&state, later, later);
  for (const uint64_t late_doc_id : {doc_id, doc_id + 1}) {
    const auto late = state.Execute(Of(Upsert(late_doc_id, removed - 1, "late")));
    ASSERT_EQ(late->late_doc_ids_size(), 1);
    EXPECT_EQ(late->late_doc_ids(0), late_doc_id);
    EXPECT_EQ(TitleOf(state, late_doc_id), "never changed");
  }
  EXPECT_EQ(
      state.Execute(Of(Upsert(7, removed - 1, "its removal would be there")))->late_doc_ids_size(),
      0);
  EXPECT_EQ(state.Execute(Of(Upsert(doc_id, removed + 1, "newer")))->late_doc_ids_size(), 0);
  EXPECT_EQ(TitleOf(state, doc_id), "newer");
}

TEST(ChangeStateTest, ARemovalThatWasReplacedIsNotForgotten) {
  MapState state;
  const uint64_t doc_id = kFirstHashedDocId + 5;
  ASSERT_TRUE(state.Execute(Of(RemovalOf(doc_id, VersionAt(kBegin)))).ok());
  ASSERT_TRUE(state.Execute(Of(Upsert(doc_id, VersionAt(kBegin) + 1, "back"))).ok());
  const neptune::WallTime later = After(2 * kRemovalsKept);
  Touch(&state, later, later);
  EXPECT_EQ(TitleOf(state, doc_id), "back");
  // The removal is forgotten by the same write that adds the document again.
  ASSERT_TRUE(state.Execute(Of(RemovalOf(doc_id, VersionAt(kBegin) + 2))).ok());
  ASSERT_TRUE(state.Execute(Of(Upsert(doc_id, VersionAt(later) + 1, "again"))).ok());
  EXPECT_EQ(TitleOf(state, doc_id), "again");
}

TEST(ChangeStateTest, AStreamOfNewAndRemovedDocumentsKeepsABoundedState) {
  MapState state;
  size_t largest = 0;
  for (int minute = 0; minute < 24 * 60; ++minute) {
    const neptune::WallTime now = After(std::chrono::minutes(minute));
    state.SetTime(now);
    PartitionChange change;
    for (uint64_t i = 0; i < 5; ++i) {
      const uint64_t doc_id = kFirstHashedDocId + 5 * static_cast<uint64_t>(minute) + i;
      *change.add_documents() = RemovalOf(doc_id, VersionAt(now) + i);
    }
    ASSERT_TRUE(state.Execute(change).ok());
    largest = std::max(largest, state.entries().size());
  }
  // Two keys for each removal of the last two hours.
  EXPECT_LE(largest, 2U * 5 * 121 + 10);
}

PartitionChange Named(char name, uint64_t contents, uint64_t version) {
  PartitionChange change;
  change.mutable_request_key()->set_key(std::string(kRequestKeySize, name));
  change.mutable_request_key()->set_contents(contents);
  change.mutable_request_key()->set_version(version);
  return change;
}

TEST(ChangeStateTest, TheFirstRequestOfANameSaysItsVersion) {
  MapState state;
  EXPECT_EQ(state.Execute(Named('a', 7, 100))->request_key().version(), 100U);
  const auto again = state.Execute(Named('a', 8, 200));
  EXPECT_EQ(again->request_key().version(), 100U);
  EXPECT_EQ(again->request_key().contents(), 7U);
  EXPECT_EQ(state.Execute(Named('b', 8, 150))->request_key().version(), 150U);
  EXPECT_FALSE(state.Execute(Of(Upsert(1, 5, "five")))->has_request_key());
}

TEST(ChangeStateTest, NamesOfRequestsAreForgottenInTime) {
  MapState state;
  const auto version_at = [&](char name, neptune::WallTime now) {
    state.SetTime(now);
    return state.Execute(Named(name, 7, VersionAt(now)))->request_key().version();
  };
  const uint64_t first = version_at('a', kBegin);
  EXPECT_EQ(version_at('a', After(kRequestKeysKept)), first);
  version_at('b', After(kRequestKeysKept + std::chrono::seconds(1)));
  EXPECT_GT(version_at('a', After(kRequestKeysKept + std::chrono::seconds(2))), first);
  size_t largest = 0;
  for (int second = 0; second < 10'000; second += 20) {
    PartitionChange change = Named('c', 7, VersionAt(After(std::chrono::seconds(second))));
    change.mutable_request_key()->mutable_key()->replace(0, 8,
                                                         neptune::StrCat(10'000'000 + second));
    state.SetTime(After(std::chrono::seconds(second)));
    ASSERT_TRUE(state.Execute(change).ok());
    largest = std::max(largest, state.entries().size());
  }
  EXPECT_LE(largest, 2U * 182 + 10);
}

TEST(ChangeStateTest, ADamagedValueIsDataLoss) {
  class Damaged : public MapState {
    neptune::StatusOr<std::optional<std::string>> Get(std::string_view) const override {
      return std::optional<std::string>("\xff\xff");
    }
  };
  EXPECT_EQ(ReadChange(Damaged(), 1).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(StatisticsInUse(Damaged()).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(LastWrite(Damaged()).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace search::index
