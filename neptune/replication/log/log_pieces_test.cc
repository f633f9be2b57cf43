#include "neptune/replication/log/log_pieces.h"

#include <gtest/gtest.h>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

LogChange RandomChange(RandomSource& random) {
  LogChange change;
  const Lsn base = random.Below(1000);
  change.restart = LogChange::Restart{{base, random.Below(9)}, MemberSet(5)};
  for (uint64_t i = random.Below(30); i > 0; --i) {
    change.entries.push_back({.lsn = base + 1 + change.entries.size(),
                              .kind = EntryKind::kCommutativeWrite,
                              .payload = std::string(random.Below(200), 'x')});
  }
  if (random.Below(4) > 0) change.promise = HardState{true, random.Next(), std::nullopt};
  if (random.Below(4) > 0) change.committed = base + random.Below(30);
  return change;
}

size_t SizeBeforeLast(const LogChange& piece) {
  size_t size = 0;
  for (size_t i = 0; i + 1 < piece.entries.size(); ++i) size += piece.entries[i].payload.size();
  return size;
}

TEST(LogPiecesTest, StoredInOrderTheyAreTheChange) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource random(seed);
    const LogChange change = RandomChange(random);
    const size_t size_max = 1 + random.Below(1000);
    const std::vector<LogChange> pieces = PiecesOf(change, size_max);
    ASSERT_FALSE(pieces.empty());
    std::vector<LogEntry> entries;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool is_first = i == 0;
      const bool is_last = i + 1 == pieces.size();
      EXPECT_EQ(pieces[i].restart.has_value(), is_first);
      EXPECT_EQ(pieces[i].promise, is_last ? change.promise : std::nullopt);
      EXPECT_EQ(pieces[i].committed, is_last ? change.committed : std::nullopt);
      EXPECT_EQ(pieces[i].drop_from, 0u);
      EXPECT_TRUE(is_first || !pieces[i].entries.empty());
      EXPECT_TRUE(pieces[i].entries.size() < 2 || SizeBeforeLast(pieces[i]) < size_max);
      entries.insert(entries.end(), pieces[i].entries.begin(), pieces[i].entries.end());
    }
    EXPECT_EQ(pieces[0].restart->base, change.restart->base);
    EXPECT_EQ(pieces[0].restart->write_set, change.restart->write_set);
    EXPECT_EQ(entries, change.entries);
  }
}

TEST(LogPiecesTest, WhatFitsIsOnePiece) {
  LogChange change;
  for (Lsn lsn = 1; lsn <= 3; ++lsn)
    change.entries.push_back({.lsn = lsn, .payload = "0123456789"});
  EXPECT_EQ(PiecesOf(change, 21).size(), 1u);
  EXPECT_EQ(PiecesOf(change, 20).size(), 2u);
  EXPECT_EQ(PiecesOf(change, 1).size(), 3u);
  EXPECT_EQ(PiecesOf({}, 1).size(), 1u);
}

}  // namespace
}  // namespace neptune
