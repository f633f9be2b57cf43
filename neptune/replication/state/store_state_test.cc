#include "neptune/replication/state/store_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/replication/state/store_state_fixture.h"

namespace neptune {
namespace {

using store_state_testing::Contents;
using store_state_testing::ContentsOf;
using store_state_testing::Entry;
using store_state_testing::Model;
using store_state_testing::RandomWrites;
using store_state_testing::StoreStateTest;
using store_state_testing::Writes;

// The pieces that are left of a snapshot.
std::vector<std::string> PiecesOf(SnapshotSource& source, size_t piece_size_max) {
  std::vector<std::string> pieces;
  while (!source.is_done()) {
    auto piece = source.Next(piece_size_max);
    EXPECT_TRUE(piece.ok()) << piece.status();
    if (!piece.ok()) break;
    EXPECT_LE(piece->size(), std::max(piece_size_max, kSnapshotPieceSizeMin));
    pieces.push_back(*std::move(piece));
  }
  return pieces;
}

std::vector<std::string> Snapshot(const StoreState& state, size_t piece_size_max) {
  const auto source = state.OpenSnapshot();
  EXPECT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->completed(), state.completed());
  return PiecesOf(**source, piece_size_max);
}

// Errors: also kInternal the data end with another write than `completed`.
Status Restore(StoreState& state, const std::vector<std::string>& pieces, Lsn completed) {
  NEPTUNE_RETURN_IF_ERROR(state.BeginRestore());
  for (const std::string& piece : pieces) NEPTUNE_RETURN_IF_ERROR(state.RestorePiece(piece));
  NEPTUNE_ASSIGN_OR_RETURN(const Lsn end, state.EndRestore());
  return end == completed ? OkStatus() : Internal("the data end with ", end);
}

TEST_F(StoreStateTest, RandomWritesAndCrashesMatchTheModel) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    RandomWrites writes(seed);
    RandomSource& random = writes.random();
    std::vector<LogEntry> log;
    std::vector<WriteOutcome> outcomes;
    std::vector<Contents> after = {{}};
    Model model;
    Lsn flushed = 0;
    for (int step = 0; step < 80; ++step) {
      log.push_back(writes.Next());
      outcomes.push_back(model.Apply(log.back()));
      after.push_back(model.contents());
      ASSERT_EQ(Apply(log.back()), outcomes.back());
      ASSERT_EQ(state_->completed(), log.back().lsn);
      if (random.Below(10) == 0) flushed = *state_->Flush();
      if (random.Below(10) > 0) continue;
      Crash(random);
      ASSERT_GE(state_->completed(), flushed);
      size_t completed = 0;
      while (completed < log.size() && log[completed].lsn <= state_->completed()) ++completed;
      ASSERT_EQ(ContentsOf(*state_), after[completed]);
      for (; completed < log.size(); ++completed) {
        ASSERT_EQ(Apply(log[completed]), outcomes[completed]);
      }
    }
    ASSERT_EQ(ContentsOf(*state_), model.contents());
  }
}

TEST_F(StoreStateTest, DuplicateGetsTheFirstAnswerAndCounts) {
  const LogEntry first = Entry(1, "Append", "k v", {7, 1});
  const WriteOutcome outcome = Apply(first);
  LogEntry again = first;
  again.lsn = 2;
  EXPECT_EQ(Apply(again), outcome);
  EXPECT_EQ(state_->completed(), 2u);
  EXPECT_EQ(*state_->view().Get("k"), "v");
}

TEST_F(StoreStateTest, RefusedWriteChangesNothingAndIsRefusedAlikeAgain) {
  const WriteOutcome outcome = Apply(Entry(1, "Refuse", "no such auction", {7, 1}));
  EXPECT_EQ(outcome.status, FailedPrecondition("no such auction"));
  EXPECT_EQ(outcome.response, "");
  EXPECT_EQ(Apply(Entry(2, "Refuse", "no such auction", {7, 1})), outcome);
  EXPECT_TRUE(ContentsOf(*state_).empty());
}

TEST_F(StoreStateTest, LongMessageIsCutTheFirstTimeToo) {
  const std::string reason(5000, 'm');
  const WriteOutcome outcome = Apply(Entry(1, "Refuse", reason, {7, 1}));
  EXPECT_EQ(outcome.status.message().size(), kOutcomeMessageSizeMax);
  EXPECT_EQ(Apply(Entry(2, "Refuse", reason, {7, 1})), outcome);
}

TEST_F(StoreStateTest, UnknownMethodIsAnOutcome) {
  EXPECT_EQ(Apply(Entry(1, "Nothing", "")).status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(state_->completed(), 1u);
}

TEST_F(StoreStateTest, ChangesOverTheLimitsAreAnOutcome) {
  EXPECT_TRUE(Apply(Entry(1, "Large", std::string(kStateKeySizeMax, 'x'))).status.ok());
  EXPECT_EQ(Apply(Entry(2, "Large", std::string(kStateKeySizeMax + 1, 'x'))).status.code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(state_->completed(), 2u);
}

TEST_F(StoreStateTest, LargeAnswerIsRememberedWithoutItsBytes) {
  EXPECT_EQ(Apply(Entry(1, "Large", "x", {7, 1})).response.size(), kAnswerSizeMax + 1);
  const WriteOutcome again = Apply(Entry(2, "Large", "x", {7, 1}));
  EXPECT_TRUE(again.status.ok());
  EXPECT_EQ(again.response, "");
}

TEST_F(StoreStateTest, AnswerIsForgottenAfterItsTime) {
  const RequestId id = {7, 1};
  Apply(Entry(1, "Append", "k v", id));
  EXPECT_EQ(Apply(Entry(kAnswersKept, "Append", "k v", id)).response, "1 at 1");
  EXPECT_EQ(Apply(Entry(kAnswersKept + 1, "Append", "k v", id)).response,
            StrCat("2 at ", kAnswersKept + 1));
}

TEST_F(StoreStateTest, RememberedAnswersAreBounded) {
  constexpr Lsn kExtra = 50;
  for (Lsn lsn = 1; lsn <= kAnswersKept + kExtra; ++lsn) {
    ASSERT_TRUE(state_->Apply(Entry(lsn, "Erase", "a a", {1, lsn})).ok());
  }
  state_.reset();
  Lsn key_count = 0;
  ASSERT_TRUE((*storage_.Open("data"))->Scan({}, [&](auto, auto) { return ++key_count > 0; }).ok());
  EXPECT_EQ(key_count, 2 * kAnswersKept + 1);
}

TEST_F(StoreStateTest, FullDiskStopsTheReplicaAndLosesNothing) {
  Apply(Entry(1, "Append", "k v"));
  storage_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(state_->Apply(Entry(2, "Append", "k w")).status().code(),
            StatusCode::kResourceExhausted);
  storage_.FailWrites(OkStatus());
  EXPECT_EQ(state_->Apply(Entry(2, "Append", "k w")).status().code(),
            StatusCode::kFailedPrecondition);
  Reopen();
  EXPECT_EQ(state_->completed(), 1u);
  Apply(Entry(2, "Append", "k w"));
  EXPECT_EQ(*state_->view().Get("k"), "vw");
}

// A store that accepts writes and cannot be read.
class UnreadableStore : public KeyValueStore {
 public:
  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    if (key == "s" || key == "r") return std::optional<std::string>();
    return Unavailable("the disk does not answer");
  }
  Status Write(const WriteBatch&, WriteMode) override {
    ++write_count;
    return OkStatus();
  }
  Status Sync() override { return OkStatus(); }
  Status Scan(const ScanOptions&, const Visitor&) const override {
    return Unavailable("the disk does not answer");
  }
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override {
    return Unavailable("the disk does not answer");
  }
  int write_count = 0;
};

// A failure of the replica, although the write returns the error as its own.
TEST_F(StoreStateTest, FailureToReadIsNoOutcome) {
  auto store = std::make_unique<UnreadableStore>();
  const UnreadableStore& writes = *store;
  auto state = *StoreState::Open(std::move(store), {.writes = Writes()});
  EXPECT_EQ(state->Apply(Entry(1, "Append", "k v")).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(state->completed(), 0u);
  EXPECT_EQ(writes.write_count, 0);
}

TEST_F(StoreStateTest, WriteThatWasExecutedIsNotTakenAgain) {
  Apply(Entry(5, "Append", "k v"));
  EXPECT_EQ(state_->Apply(Entry(5, "Append", "k v")).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(*state_->view().Get("k"), "v");
}

TEST_F(StoreStateTest, ChangesAreReported) {
  std::vector<Lsn> reported;
  auto state = *StoreState::Open(*storage_.Open("reported"),
                                 {.writes = Writes(), .on_change = [&](const LogEntry* entry) {
                                    reported.push_back(entry ? entry->lsn : 0);
                                  }});
  ASSERT_TRUE(state->Apply(Entry(1, "Append", "k v", {1, 1})).ok());
  ASSERT_TRUE(state->Apply(Entry(2, "Refuse", "k v")).ok());
  ASSERT_TRUE(state->Apply(Entry(3, "Append", "k v", {1, 1})).ok());
  ASSERT_TRUE(state->Apply(Entry(4, "Append", "k v")).ok());
  const std::vector<std::string> pieces = Snapshot(*state, 1000);
  ASSERT_TRUE(Restore(*state, pieces, 4).ok());
  EXPECT_EQ(reported, (std::vector<Lsn>{1, 4, 0}));
}

TEST_F(StoreStateTest, ViewScansBothWaysWithinBounds) {
  for (Lsn i = 0; i < 5; ++i) Apply(Entry(i + 1, "Append", StrCat("k", i, " v")));
  std::string keys;
  const auto visit = [&](std::string_view key, std::string_view) {
    keys += key;
    return true;
  };
  ASSERT_TRUE(state_->view().Scan({.first = "k1", .end = "k3"}, visit).ok());
  ASSERT_TRUE(state_->view().Scan({.first = "k3", .backward = true}, visit).ok());
  EXPECT_EQ(keys, "k1k2k4k3");
}

TEST_F(StoreStateTest, RestoredStateIsTheOther) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    RandomWrites writes(seed);
    Lsn last = 0;
    for (int i = 0; i < 60; ++i) {
      const LogEntry entry = writes.Next();
      Apply(entry);
      last = entry.lsn;
    }
    auto other = Open("other");
    const std::vector<std::string> pieces = Snapshot(*state_, 64 + writes.random().Below(2000));
    ASSERT_TRUE(Restore(*other, pieces, last).ok());
    ASSERT_EQ(other->completed(), last);
    other.reset();
    storage_.Crash(writes.random());
    Reopen();
    other = Open("other");
    ASSERT_EQ(other->completed(), last);
    // A crash may have undone the first one's last writes: restore it from the same snapshot.
    ASSERT_TRUE(Restore(*state_, pieces, last).ok());
    ASSERT_EQ(ContentsOf(*other), ContentsOf(*state_));
    for (int i = 0; i < 40; ++i) {
      const LogEntry entry = writes.Next();
      ASSERT_EQ(*other->Apply(entry), Apply(entry));
    }
    other.reset();
    ASSERT_TRUE(storage_.Destroy("other").ok());
  }
}

TEST_F(StoreStateTest, CrashInARestoreLeavesNothing) {
  for (Lsn lsn = 1; lsn <= 20; ++lsn) Apply(Entry(lsn, "Append", StrCat("k", lsn, " value")));
  const std::vector<std::string> pieces = Snapshot(*state_, 100);
  for (size_t count = 0; count <= pieces.size(); ++count) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      ASSERT_TRUE(state_->BeginRestore().ok());
      EXPECT_EQ(state_->completed(), 0u);
      for (size_t i = 0; i < count; ++i) ASSERT_TRUE(state_->RestorePiece(pieces[i]).ok());
      EXPECT_FALSE(state_->Apply(Entry(21, "Append", "k v")).ok());
      EXPECT_EQ(state_->OpenSnapshot().status().code(), StatusCode::kFailedPrecondition);
      RandomSource random(seed);
      Crash(random);
      EXPECT_EQ(state_->completed(), 0u);
      EXPECT_TRUE(ContentsOf(*state_).empty());
      Apply(Entry(1, "Append", "k v"));
    }
  }
  EXPECT_TRUE(Restore(*state_, pieces, 20).ok());
  EXPECT_EQ(ContentsOf(*state_).size(), 20u);
}

TEST_F(StoreStateTest, EndedRestoreSurvivesAPowerFailure) {
  for (Lsn lsn = 1; lsn <= 20; ++lsn) Apply(Entry(lsn, "Append", StrCat("k", lsn, " value")));
  const std::vector<std::string> pieces = Snapshot(*state_, 100);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ASSERT_TRUE(Restore(*state_, pieces, 20).ok());
    RandomSource random(seed);
    Crash(random);
    EXPECT_EQ(state_->completed(), 20u) << "seed " << seed;
    EXPECT_EQ(ContentsOf(*state_).size(), 20u) << "seed " << seed;
  }
}

TEST_F(StoreStateTest, DamagedPieceEndsTheRestoreWithNothing) {
  for (Lsn lsn = 1; lsn <= 20; ++lsn) Apply(Entry(lsn, "Append", StrCat("k", lsn, " value")));
  const std::vector<std::string> pieces = Snapshot(*state_, 100);
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::vector<std::string> damaged = pieces;
    damaged[i].back() = static_cast<char>(damaged[i].back() ^ 1);
    EXPECT_EQ(Restore(*state_, damaged, 20).code(), StatusCode::kDataLoss);
    EXPECT_EQ(state_->completed(), 0u);
    EXPECT_TRUE(ContentsOf(*state_).empty());
    EXPECT_EQ(state_->RestorePiece(pieces[i]).code(), StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(Restore(*state_, {pieces[0]}, 20).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(ContentsOf(*state_).empty());
  Apply(Entry(1, "Append", "k v"));
}

TEST_F(StoreStateTest, SnapshotShowsItsMomentWhileWritesGoOn) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    RandomWrites writes(seed);
    for (int i = 0; i < 60; ++i) Apply(writes.Next());
    const Lsn then = state_->completed();
    const Contents contents = ContentsOf(*state_);
    const auto source = *state_->OpenSnapshot();
    auto other = Open("other");
    ASSERT_TRUE(other->BeginRestore().ok());
    while (!source->is_done()) {
      ASSERT_TRUE(other->RestorePiece(*source->Next(100)).ok());
      Apply(writes.Next());
    }
    ASSERT_EQ(other->EndRestore().value(), then);
    ASSERT_EQ(ContentsOf(*other), contents);
    ASSERT_NE(state_->completed(), then);
    other.reset();
    ASSERT_TRUE(storage_.Destroy("other").ok());
  }
}

TEST_F(StoreStateTest, WritesThatFollowASnapshotAreExecutedBeforeTheRestoreEnds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    RandomWrites writes(seed);
    for (int i = 0; i < 40; ++i) Apply(writes.Next());
    const std::vector<std::string> pieces = Snapshot(*state_, 100);
    auto other = Open("other");
    ASSERT_TRUE(other->BeginRestore().ok());
    for (const std::string& piece : pieces) ASSERT_TRUE(other->RestorePiece(piece).ok());
    for (int i = 0; i < 12; ++i) {  // some of them repeat writes that are in the pieces
      std::vector<LogEntry> entries;
      for (uint64_t count = 1 + writes.random().Below(6); count > 0; --count) {
        entries.push_back(writes.Next());
      }
      std::vector<const LogEntry*> run;
      for (const LogEntry& entry : entries) {
        Apply(entry);
        run.push_back(&entry);
      }
      ASSERT_TRUE(other->RestoreRun(run).ok());
      ASSERT_EQ(other->RestoreRun(run).code(), StatusCode::kFailedPrecondition);
    }
    EXPECT_EQ(other->completed(), 0u) << "it does not count yet";
    if (seed % 2 == 0) {
      storage_.Crash(writes.random());
      other.reset();
      other = Open("other");
      EXPECT_EQ(other->completed(), 0u);
      EXPECT_TRUE(ContentsOf(*other).empty());
    } else {
      ASSERT_EQ(other->EndRestore().value(), state_->completed());
      ASSERT_EQ(ContentsOf(*other), ContentsOf(*state_));
      const LogEntry entry = writes.Next();
      ASSERT_EQ(*other->Apply(entry), Apply(entry));
    }
    other.reset();
    ASSERT_TRUE(storage_.Destroy("other").ok());
    Reopen();
  }
}

TEST_F(StoreStateTest, WriteOnAnIncompleteSnapshotEndsTheRestoreWithNothing) {
  for (Lsn lsn = 1; lsn <= 20; ++lsn) Apply(Entry(lsn, "Append", StrCat("k", lsn, " value")));
  const std::vector<std::string> pieces = Snapshot(*state_, 100);
  ASSERT_TRUE(state_->BeginRestore().ok());
  ASSERT_TRUE(state_->RestorePiece(pieces[0]).ok());
  const LogEntry entry = Entry(21, "Append", "k v");
  EXPECT_EQ(state_->RestoreRun({&entry}).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(ContentsOf(*state_).empty());
  EXPECT_EQ(state_->EndRestore().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(StoreStateTest, SnapshotHoldsOnePieceAtATime) {
  for (Lsn lsn = 1; lsn <= 50; ++lsn) {
    Apply(Entry(lsn, "Append", StrCat("k", lsn, " ", std::string(1000, 'x'))));
  }
  const auto source = *state_->OpenSnapshot();
  size_t count = 0;
  for (; !source->is_done(); ++count) ASSERT_LE((*source->Next(2000)).size(), 2000u);
  EXPECT_GT(count, 25u);
}

TEST_F(StoreStateTest, VerifyFindsDamagedAnswers) {
  Apply(Entry(1, "Append", "k v", {1, 1}));
  state_.reset();
  int found_count = 0;
  for (const auto& [key, value] : StoredIn("data")) {
    for (size_t bit = 0; bit < 8 * value.size(); ++bit) {
      std::string flipped = value;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_TRUE((*storage_.Open("data"))->Put(key, flipped, WriteMode::kSynced).ok());
      auto opened = StoreState::Open(*storage_.Open("data"), {.writes = Writes()});
      // Records that are needed to open are found by opening; values of the service are its own.
      if (opened.ok() && key[0] != 'u') {
        const Status status = (*opened)->Verify("", std::numeric_limits<size_t>::max()).status();
        EXPECT_EQ(status.code(), StatusCode::kDataLoss) << key << " bit " << bit;
        ++found_count;
      }
      opened = Unavailable("closed");
    }
    ASSERT_TRUE((*storage_.Open("data"))->Put(key, value, WriteMode::kSynced).ok());
  }
  EXPECT_GT(found_count, 0);
}

TEST_F(StoreStateTest, DamagedRecordsAreFound) {
  Apply(Entry(1, "Append", "k v", {1, 1}));
  std::vector<std::pair<std::string, std::string>> records;
  state_.reset();
  auto store = *storage_.Open("data");
  ASSERT_TRUE(store
                  ->Scan({},
                         [&](std::string_view key, std::string_view value) {
                           if (key[0] != 'u') records.emplace_back(key, value);
                           return true;
                         })
                  .ok());
  ASSERT_EQ(records.size(), 3u);
  for (const auto& [key, value] : records) {
    for (size_t bit = 0; bit < 8 * value.size(); ++bit) {
      std::string flipped = value;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_TRUE(store->Put(key, flipped, WriteMode::kSynced).ok());
      store.reset();
      auto opened = StoreState::Open(*storage_.Open("data"), {.writes = Writes()});
      Status status = opened.status();
      // Damage in records not needed to open is found at use: by a duplicate, or when they expire.
      if (opened.ok()) {
        status = (*opened)->Apply(Entry(2, "Append", "k v", {1, 1})).status();
        if (status.ok()) {
          status = (*opened)->Apply(Entry(kAnswersKept + 2, "Append", "k v")).status();
        }
        opened->reset();
      }
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << key << " bit " << bit;
      ASSERT_TRUE(storage_.Destroy("data").ok());
      store = *storage_.Open("data");
      for (const auto& [k, v] : records) ASSERT_TRUE(store->Put(k, v, WriteMode::kSynced).ok());
    }
  }
}

}  // namespace
}  // namespace neptune
