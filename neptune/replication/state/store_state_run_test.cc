// Runs of writes: what they leave behind is what one write after the other would.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/replication/state/overlaid_store.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/replication/state/store_state_fixture.h"

namespace neptune {
namespace {

using store_state_testing::Contents;
using store_state_testing::ContentsOf;
using store_state_testing::Entry;
using store_state_testing::Model;
using store_state_testing::RandomWrites;
using store_state_testing::Writes;

using StoreStateRunTest = store_state_testing::StoreStateTest;

// The last writes of the runs are the only states that a crash may leave.
TEST_F(StoreStateRunTest, RunsAndCrashesMatchTheModel) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    RandomWrites writes(seed);
    RandomSource& random = writes.random();
    std::vector<LogEntry> log;
    std::vector<WriteOutcome> outcomes;
    std::vector<Contents> after = {{}};
    Model model;
    for (int i = 0; i < 80; ++i) {
      log.push_back(writes.Next());
      outcomes.push_back(model.Apply(log.back()));
      after.push_back(model.contents());
    }
    std::set<size_t> run_ends = {0};
    size_t count = 0;
    Lsn flushed = 0;
    while (count < log.size()) {
      const size_t end = std::min(log.size(), count + 1 + random.Below(12));
      const std::vector<WriteOutcome> got = ApplyRun(log, count, end);
      ASSERT_EQ(got, std::vector(outcomes.begin() + static_cast<ptrdiff_t>(count),
                                 outcomes.begin() + static_cast<ptrdiff_t>(end)));
      count = end;
      run_ends.insert(count);
      ASSERT_EQ(state_->completed(), log[count - 1].lsn);
      ASSERT_EQ(ContentsOf(*state_), after[count]);
      if (random.Below(5) == 0) flushed = *state_->Flush();
      if (random.Below(5) > 0) continue;
      Crash(random);
      ASSERT_GE(state_->completed(), flushed);
      count = 0;
      while (count < log.size() && log[count].lsn <= state_->completed()) ++count;
      ASSERT_TRUE(run_ends.contains(count)) << "a part of a run survived";
      ASSERT_EQ(ContentsOf(*state_), after[count]);
    }
  }
}

// Including what is remembered of the writes, and their times.
TEST_F(StoreStateRunTest, RunsLeaveTheSameBytesAsOneWriteAfterTheOther) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    StartOver();
    auto other = Open("other");
    RandomWrites writes(seed);
    RandomSource& random = writes.random();
    std::vector<LogEntry> log;
    for (int i = 0; i < 100; ++i) {
      log.push_back(writes.Next());
      log.back().accepted_at = {static_cast<int64_t>(1000 * i + random.Below(1500))};
      ASSERT_TRUE(other->Apply(log.back()).ok());
    }
    for (size_t count = 0; count < log.size();) {
      const size_t end = std::min(log.size(), count + 1 + random.Below(40));
      count += ApplyRun(log, count, end).size();
    }
    EXPECT_EQ(state_->newest_write().ns_since_1970, other->newest_write().ns_since_1970);
    state_.reset();
    other.reset();
    ASSERT_EQ(StoredIn("data"), StoredIn("other"));
    ASSERT_TRUE(storage_.Destroy("other").ok());
    Reopen();
  }
}

TEST_F(StoreStateRunTest, DuplicateInTheSameRunIsExecutedOnce) {
  const std::vector<LogEntry> log = {Entry(1, "Append", "k v", {7, 1}),
                                     Entry(2, "Append", "k w", {7, 2}),
                                     Entry(3, "Append", "k v", {7, 1})};
  const std::vector<WriteOutcome> outcomes = ApplyRun(log, 0, 3);
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[1].response, "2 at 2");
  EXPECT_EQ(outcomes[2], outcomes[0]);
  EXPECT_EQ(*state_->view().Get("k"), "vw");
}

TEST_F(StoreStateRunTest, RefusedWriteOfARunSpoilsNoOther) {
  const std::vector<LogEntry> log = {Entry(1, "Append", "k v"), Entry(2, "Refuse", "no"),
                                     Entry(3, "Nothing", ""), Entry(4, "Append", "k w")};
  const std::vector<WriteOutcome> outcomes = ApplyRun(log, 0, 4);
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[1].status, FailedPrecondition("no"));
  EXPECT_EQ(outcomes[2].status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(outcomes[3].response, "2 at 4");
}

TEST_F(StoreStateRunTest, RunEndsBeforeAWriteThatCannotReadItsData) {
  Apply(Entry(1, "Append", "bad v"));
  ASSERT_TRUE(storage_.DamageValue("data", "ubad").ok());
  const std::vector<LogEntry> log = {Entry(2, "Append", "good v", {7, 1}),
                                     Entry(3, "Append", "bad w", {7, 2}),
                                     Entry(4, "Append", "good w", {7, 3})};
  EXPECT_EQ(ApplyRun(log, 0, 3).size(), 1u);
  EXPECT_EQ(state_->completed(), 2u);
  EXPECT_EQ(state_->ApplyRun({&log[1], &log[2]}, nullptr).status().code(), StatusCode::kDataLoss);
  Reopen();
  EXPECT_EQ(state_->completed(), 2u);
  EXPECT_EQ(*state_->view().Get("good"), "v");
}

TEST_F(StoreStateRunTest, RunThatIsNotWrittenHasNoOutcomesAndIsForgotten) {
  const std::vector<LogEntry> log = {Entry(1, "Append", "k v", {7, 1}),
                                     Entry(2, "Append", "k w", {7, 2})};
  storage_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(state_->ApplyRun({&log[0], &log[1]}, nullptr).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(state_->completed(), 0u);
  EXPECT_EQ(*state_->view().Get("k"), std::nullopt);
  storage_.FailWrites(OkStatus());
  EXPECT_EQ(state_->Apply(log[0]).status().code(), StatusCode::kFailedPrecondition);
  Reopen();
  EXPECT_EQ(ApplyRun(log, 0, 2).back().response, "2 at 2");
}

TEST_F(StoreStateRunTest, RunEndsWhenItsTimeIsOver) {
  std::vector<LogEntry> log;
  std::vector<const LogEntry*> run;
  for (Lsn lsn = 1; lsn <= 5; ++lsn) log.push_back(Entry(lsn, "Append", "k v"));
  for (const LogEntry& entry : log) run.push_back(&entry);
  int count = 0;
  const auto outcomes = state_->ApplyRun(run, [&count] { return ++count == 3; });
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_EQ(outcomes->size(), 3u);
  EXPECT_EQ(state_->completed(), 3u);
}

TEST_F(StoreStateRunTest, LargeChangesEndARun) {
  const std::string large(OverlaidStore::kSizeMax / 2 + 1, 'v');
  const std::vector<LogEntry> log = {Entry(1, "Append", "k v"), Entry(2, "Append", "l " + large),
                                     Entry(3, "Append", "k w"), Entry(4, "Append", "m " + large),
                                     Entry(5, "Append", "k x")};
  EXPECT_EQ(ApplyRun(log, 0, 5).size(), 3u) << "the fourth has no room";
  EXPECT_EQ(ApplyRun(log, 3, 5).size(), 2u);
  EXPECT_EQ(state_->completed(), 5u);
  EXPECT_EQ(*state_->view().Get("k"), "vwx");
}

TEST_F(StoreStateRunTest, ChangesOfARunAreReportedInTheirOrderOnceTheyCount) {
  std::vector<Lsn> reported;
  std::unique_ptr<StoreState> state;
  state = *StoreState::Open(*storage_.Open("reported"),
                            {.writes = Writes(), .on_change = [&](const LogEntry* entry) {
                               EXPECT_EQ(state->completed(), 3u);
                               reported.push_back(entry->lsn);
                             }});
  const std::vector<LogEntry> log = {Entry(1, "Append", "k v"), Entry(2, "Refuse", "no"),
                                     Entry(3, "Append", "k w")};
  ASSERT_TRUE(state->ApplyRun({&log[0], &log[1], &log[2]}, nullptr).ok());
  EXPECT_EQ(reported, (std::vector<Lsn>{1, 3}));
}

}  // namespace
}  // namespace neptune
