#include "neptune/replication/agent/restore_spool.h"

#include <gtest/gtest.h>

#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

std::vector<LogEntry> Entries(Lsn first, Lsn last) {
  std::vector<LogEntry> entries;
  for (Lsn lsn = first; lsn <= last; ++lsn) {
    entries.push_back({.lsn = lsn, .method = MethodName("Add"), .payload = std::string(100, 'x')});
  }
  return entries;
}

std::vector<Lsn> LsnsOf(const std::vector<LogEntry>& entries) {
  std::vector<Lsn> lsns;
  for (const LogEntry& entry : entries) lsns.push_back(entry.lsn);
  return lsns;
}

TEST(RestoreSpoolTest, EntriesAreTakenOnceInTheirOrderAndInParts) {
  SimStorage storage;
  RestoreSpool spool(storage, "spool");
  ASSERT_TRUE(spool.Append(Entries(250, 259)).ok());
  ASSERT_TRUE(spool.Append({}).ok());
  ASSERT_TRUE(spool.Append(Entries(260, 261)).ok());
  EXPECT_EQ(spool.count(), 12u);
  std::vector<Lsn> taken;
  while (!spool.empty()) {
    const auto part = spool.Take(300);
    ASSERT_TRUE(part.ok()) << part.status();
    ASSERT_LE(part->size(), 3u);
    for (const Lsn lsn : LsnsOf(*part)) taken.push_back(lsn);
    if (taken.size() == 3) {
      ASSERT_TRUE(spool.Append(Entries(262, 262)).ok());
    }
  }
  EXPECT_EQ(taken.front(), 250u);
  EXPECT_EQ(taken.back() - taken.front() + 1, taken.size());
  EXPECT_TRUE(spool.Take(300)->empty());
  ASSERT_TRUE(spool.Append(Entries(400, 400)).ok());
  EXPECT_EQ(LsnsOf(*spool.Take(300)), std::vector<Lsn>{400});
}

TEST(RestoreSpoolTest, ClearRemovesTheStoreAlsoOfAnEarlierProcess) {
  SimStorage storage;
  {
    RestoreSpool earlier(storage, "spool");
    EXPECT_TRUE(earlier.Clear().ok());
    EXPECT_TRUE(storage.List()->empty()) << "no entry, no store";
    ASSERT_TRUE(earlier.Append(Entries(1, 3)).ok());
  }
  EXPECT_EQ(storage.List()->size(), 1u);
  RestoreSpool spool(storage, "spool");
  ASSERT_TRUE(spool.Clear().ok());
  EXPECT_TRUE(storage.List()->empty());
  ASSERT_TRUE(spool.Append(Entries(7, 8)).ok());
  EXPECT_EQ(LsnsOf(*spool.Take(1000)), (std::vector<Lsn>{7, 8}));
}

TEST(RestoreSpoolTest, FullDiskIsReportedAndLosesNothing) {
  SimStorage storage;
  RestoreSpool spool(storage, "spool");
  ASSERT_TRUE(spool.Append(Entries(1, 3)).ok());
  storage.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(spool.Append(Entries(4, 5)).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(spool.count(), 3u);
  storage.FailWrites(OkStatus());
  ASSERT_TRUE(spool.Append(Entries(4, 5)).ok());
  EXPECT_EQ(LsnsOf(*spool.Take(10'000)), (std::vector<Lsn>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace neptune
