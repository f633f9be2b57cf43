#include "neptune/replication/agent/unstored_changes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace neptune {
namespace {

LogEntry Entry(Lsn lsn, size_t size = 1) {
  LogEntry entry;
  entry.lsn = lsn;
  entry.payload = std::string(size, 'x');
  return entry;
}

ProtocolActions Actions(uint64_t number, std::vector<Lsn> entries) {
  ProtocolActions actions;
  actions.change_number = number;
  for (const Lsn lsn : entries) actions.change.entries.push_back(Entry(lsn));
  actions.after_stored.push_back(
      {.to = static_cast<MemberIndex>(number), .message = {}, .entries = {}});
  return actions;
}

std::vector<Lsn> EntriesOf(const LogChange& change) {
  std::vector<Lsn> entries;
  for (const LogEntry& entry : change.entries) entries.push_back(entry.lsn);
  return entries;
}

TEST(UnstoredChangesTest, ChangesThatComeWhileOneIsStoredAreStoredTogether) {
  UnstoredChanges changes;
  changes.Push(Actions(1, {5}));
  EXPECT_EQ(EntriesOf(*changes.Begin().change), std::vector<Lsn>{5});
  changes.Push(Actions(2, {6}));
  changes.Push(Actions(3, {7, 8}));
  const UnstoredChanges::Batch first = changes.End();
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.messages.size(), 1u);
  const UnstoredChanges::Batch& second = changes.Begin();
  EXPECT_EQ(second.number, 3u);
  EXPECT_EQ(EntriesOf(*second.change), (std::vector<Lsn>{6, 7, 8}));
  ASSERT_EQ(second.messages.size(), 2u);
  EXPECT_EQ(second.messages[0].to, 2);
  EXPECT_EQ(second.messages[1].to, 3);
  changes.End();
  EXPECT_TRUE(changes.empty());
}

TEST(UnstoredChangesTest, ActionsWithoutAChangeDoNotHideTheNumberOfOne) {
  UnstoredChanges changes;
  changes.Push(Actions(2, {6}));
  changes.Push(Actions(0, {}));
  EXPECT_EQ(changes.Begin().number, 2u);
  EXPECT_EQ(changes.End().messages.size(), 2u);
}

TEST(UnstoredChangesTest, TheLastPromiseAndCommittedPositionCount) {
  UnstoredChanges changes;
  ProtocolActions first = Actions(1, {});
  first.change.promise = HardState{.epoch = 3};
  first.change.committed = 4;
  ProtocolActions second = Actions(2, {});
  second.change.promise = HardState{.epoch = 5};
  second.restore_from = 2;
  changes.Push(std::move(first));
  changes.Push(std::move(second));
  const UnstoredChanges::Batch& batch = changes.Begin();
  EXPECT_EQ(batch.change->promise->epoch, 5u);
  EXPECT_EQ(batch.change->committed, 4u);
  EXPECT_EQ(batch.restore_from, 2);
}

TEST(UnstoredChangesTest, AChangeThatReplacesEntriesIsStoredAfterThem) {
  UnstoredChanges changes;
  changes.Push(Actions(1, {5, 6}));
  ProtocolActions truncating = Actions(2, {6});
  truncating.change.drop_from = 6;
  changes.Push(std::move(truncating));
  changes.Push(Actions(3, {7}));
  ProtocolActions restarting = Actions(4, {});
  restarting.change.restart = LogChange::Restart{.base = {9, 1}, .write_set = {}};
  changes.Push(std::move(restarting));
  changes.Push(Actions(5, {10}));
  std::vector<std::vector<Lsn>> stored;
  while (!changes.empty()) {
    stored.push_back(EntriesOf(*changes.Begin().change));
    changes.End();
  }
  EXPECT_EQ(stored, (std::vector<std::vector<Lsn>>{{5, 6}, {6, 7}, {}, {10}}));
}

TEST(UnstoredChangesTest, EntriesAreFoundInTheNewestChangeUntilTheyAreStored) {
  UnstoredChanges changes;
  changes.Push(Actions(1, {5, 6}));
  changes.Begin();
  ProtocolActions truncating = Actions(2, {6, 7});
  truncating.change.drop_from = 6;
  truncating.change.entries.front().epoch = 9;
  changes.Push(std::move(truncating));
  ASSERT_NE(changes.Find(5), nullptr);
  EXPECT_EQ(changes.Find(5)->drop_from, 0u);
  ASSERT_NE(changes.Find(6), nullptr);
  EXPECT_EQ(changes.Find(6)->entries.front().epoch, 9u);
  EXPECT_EQ(changes.Find(8), nullptr);
  EXPECT_EQ(changes.Find(4), nullptr);
  changes.End();
  EXPECT_EQ(changes.Find(5), nullptr);
  EXPECT_NE(changes.Find(7), nullptr);
}

TEST(UnstoredChangesTest, ALargeBatchTakesNoMore) {
  UnstoredChanges changes;
  ProtocolActions large = Actions(1, {});
  large.change.entries.push_back(Entry(1, UnstoredChanges::kBatchSizeMax));
  changes.Push(std::move(large));
  changes.Push(Actions(2, {2}));
  changes.Push(Actions(3, {3}));
  EXPECT_EQ(changes.Begin().number, 1u);
  changes.End();
  EXPECT_EQ(changes.Begin().number, 3u);
}

}  // namespace
}  // namespace neptune
