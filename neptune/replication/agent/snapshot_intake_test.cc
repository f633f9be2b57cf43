#include "neptune/replication/agent/snapshot_intake.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace neptune {
namespace {

std::vector<LogEntry> Entries(Lsn first, Lsn last) {
  std::vector<LogEntry> entries;
  for (Lsn lsn = first; lsn <= last; ++lsn) entries.push_back({.lsn = lsn});
  return entries;
}

// Three chunks: data and entries, the rest of both, the end.
std::vector<SnapshotChunk> Ordered() {
  std::vector<SnapshotChunk> chunks(3);
  for (size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].token = 77;
    chunks[i].index = i;
    chunks[i].data_end = 20;
    chunks[i].has_all_data = i > 0;
  }
  chunks[0].piece = "first";
  chunks[0].entries = Entries(21, 23);
  chunks[1].piece = "second";
  chunks[2].entries = Entries(24, 24);
  chunks[2].mark = SnapshotMark{.base = {24, 3}, .write_set = {}, .log = {}};
  return chunks;
}

// The log of the sender begins before the end of its data.
std::vector<SnapshotChunk> LevelOne() {
  std::vector<SnapshotChunk> chunks = Ordered();
  chunks[0].entries = Entries(16, 20);
  chunks[2].entries = Entries(21, 24);
  chunks[2].mark->base.lsn = 20;
  chunks[2].mark->log = LogCopy{.base = 15, .counts = {}, .entries = {}};
  return chunks;
}

Status TakeAll(const std::vector<SnapshotChunk>& chunks, bool is_ordered = true) {
  SnapshotIntake intake(is_ordered);
  for (const SnapshotChunk& chunk : chunks) NEPTUNE_RETURN_IF_ERROR(intake.Take(chunk));
  return intake.is_whole() ? OkStatus() : Unavailable("not whole");
}

TEST(SnapshotIntakeTest, TakesChunksInTheirOrder) {
  SnapshotIntake intake(/*is_ordered=*/true);
  const std::vector<SnapshotChunk> chunks = Ordered();
  EXPECT_EQ(intake.token(), 0u);
  for (size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(intake.next_index(), i);
    EXPECT_FALSE(intake.is_whole());
    ASSERT_TRUE(intake.Take(chunks[i]).ok()) << i;
    EXPECT_EQ(intake.token(), 77u);
    EXPECT_EQ(intake.has_all_data(), i > 0);
  }
  EXPECT_TRUE(intake.is_whole());
  EXPECT_EQ(intake.mark().base.lsn, 24u);
  EXPECT_EQ(intake.data_end(), 20u);
}

TEST(SnapshotIntakeTest, LogOfLevelOneBeginsAnywhereUpToTheEndOfItsData) {
  EXPECT_TRUE(TakeAll(LevelOne(), /*is_ordered=*/false).ok());
  std::vector<SnapshotChunk> without_entries = LevelOne();
  for (SnapshotChunk& chunk : without_entries) chunk.entries.clear();
  without_entries[2].mark->log->base = 20;
  EXPECT_TRUE(TakeAll(without_entries, /*is_ordered=*/false).ok());
  for (const Lsn base : {14u, 16u, 20u}) {
    std::vector<SnapshotChunk> chunks = LevelOne();
    chunks[2].mark->log->base = base;
    EXPECT_EQ(TakeAll(chunks, /*is_ordered=*/false).code(), StatusCode::kDataLoss) << base;
  }
}

TEST(SnapshotIntakeTest, SnapshotOfAnotherLevelIsRefused) {
  std::vector<SnapshotChunk> other = LevelOne();
  other[0].entries = Entries(21, 23);
  other[2].entries = Entries(24, 24);
  EXPECT_EQ(TakeAll(other).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(TakeAll(Ordered(), /*is_ordered=*/false).code(), StatusCode::kFailedPrecondition);
}

TEST(SnapshotIntakeTest, WhatDoesNotFollowIsRefused) {
  using Change = std::function<void(std::vector<SnapshotChunk>&)>;
  const std::vector<Change> changes = {
      [](auto& chunks) { chunks.erase(chunks.begin() + 1); },
      [](auto& chunks) { chunks[1] = chunks[0]; },
      [](auto& chunks) { std::swap(chunks[0], chunks[1]); },
      [](auto& chunks) { chunks.push_back(chunks[2]); },
      [](auto& chunks) { chunks[0].token = 0; },
      [](auto& chunks) { chunks[2].token = 78; },
      [](auto& chunks) { chunks[2].data_end = 21; },
      [](auto& chunks) { chunks[2].piece = "more"; },
      [](auto& chunks) { chunks[2].has_all_data = false; },
      [](auto& chunks) { chunks[0].entries = Entries(22, 23); },
      [](auto& chunks) { chunks[0].entries.erase(chunks[0].entries.begin() + 1); },
      [](auto& chunks) { chunks[2].entries = Entries(25, 25); },
      [](auto& chunks) { chunks[2].entries.clear(); },
      [](auto& chunks) { chunks[2].mark->base.lsn = 23; },
  };
  ASSERT_TRUE(TakeAll(Ordered()).ok());
  for (size_t i = 0; i < changes.size(); ++i) {
    std::vector<SnapshotChunk> chunks = Ordered();
    changes[i](chunks);
    EXPECT_EQ(TakeAll(chunks).code(), StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace neptune
