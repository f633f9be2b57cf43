#include "neptune/replication/agent/replica_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

constexpr size_t kNoLimit = 1u << 30;
constexpr Lsn kAll = 1'000'000;

LogIdentity Identity(bool is_ordered) {
  return {.cluster = "east",
          .service = ServiceName("forum"),
          .partition = PartitionId(2),
          .node = NodeId("n"),
          .is_ordered = is_ordered};
}

LogEntry Entry(Lsn lsn, std::string payload = "x") {
  return {.lsn = lsn, .epoch = 3, .method = MethodName("Put"), .payload = std::move(payload)};
}

LogEntry Commutative(Lsn lsn, Origin origin, uint64_t number) {
  LogEntry entry = Entry(lsn);
  entry.kind = EntryKind::kCommutativeWrite;
  entry.origin = {origin, number};
  return entry;
}

std::vector<Lsn> LsnsOf(const std::vector<LogEntry>& entries) {
  std::vector<Lsn> lsns;
  for (const LogEntry& entry : entries) lsns.push_back(entry.lsn);
  return lsns;
}

// The log of a simulated host, without device capsules.
class ReplicaLogTest : public testing::Test {
 protected:
  // Opens the log as a new process would.
  ReplicaLog& Open(bool is_ordered = true) {
    log_.reset();
    committer_.reset();
    identity_ = Identity(is_ordered);
    committer_ = std::make_unique<LogCommitter>(world_.storage(), 1);
    log_ = std::make_unique<ReplicaLog>(device_, *committer_, identity_);
    EXPECT_TRUE(log_->Open().ok());
    return *log_;
  }
  // Appends entries from `first` to `last`, each with a payload of this size.
  void Append(Lsn first, Lsn last, size_t size = 1) {
    LogChange change;
    for (Lsn lsn = first; lsn <= last; ++lsn) {
      change.entries.push_back(Entry(lsn, std::string(size, 'x')));
    }
    Store(std::move(change));
  }
  void Store(LogChange change) {
    const Status stored = log_->Store(std::make_shared<LogChange>(std::move(change)));
    ASSERT_TRUE(stored.ok()) << stored;
  }

  // The change, not stored yet.
  static UnstoredChanges Unstored(const LogChange& change) {
    UnstoredChanges unstored;
    ProtocolActions actions;
    actions.change_number = 1;
    actions.change = change;
    unstored.Push(std::move(actions));
    return unstored;
  }

  Simulator simulator_{1};
  SimWorld& world_ = simulator_.AddHost({.name = "n"});
  std::atomic<bool> stopping_{false};
  const ReplicaDevice device_{nullptr, ServiceName("forum"), PartitionId(2), stopping_};
  LogIdentity identity_;
  std::unique_ptr<LogCommitter> committer_;
  std::unique_ptr<ReplicaLog> log_;
};

TEST_F(ReplicaLogTest, OpenFindsWhatWasStored) {
  EXPECT_EQ(Open().found().last_lsn, 0u);
  LogChange change;
  change.entries = {Entry(1), Entry(2)};
  change.promise = HardState{.is_founded = true, .epoch = 3, .voted_for = 1};
  change.committed = 1;
  Store(change);
  EXPECT_EQ(log_->last_lsn(), 2u);
  const LogOutline found = Open().found();
  EXPECT_EQ(found.last_lsn, 2u);
  EXPECT_EQ(found.promise, *change.promise);
  EXPECT_EQ(found.committed, 1u);
}

TEST_F(ReplicaLogTest, ForgottenLogIsEmptyButNotNew) {
  Open();
  Append(1, 3);
  ASSERT_TRUE(log_->Forget().ok());
  EXPECT_EQ(log_->found().last_lsn, 0u);
  EXPECT_EQ(Open().found().last_lsn, 0u);
  EXPECT_FALSE(log_->found().promise.is_founded);
  EXPECT_GT(log_->found().promise.epoch, 0u) << "a member with a new disk has promised nothing";
  Append(1, 1);
  EXPECT_EQ(log_->last_lsn(), 1u);
}

TEST_F(ReplicaLogTest, NothingRunsOnTheDeviceOfANodeThatStops) {
  Open();
  Append(1, 3);
  stopping_ = true;
  EXPECT_EQ(log_->Read(1, 3, kNoLimit).status().code(), StatusCode::kCancelled);
  const auto change = std::make_shared<LogChange>();
  change->entries = {Entry(4)};
  EXPECT_EQ(log_->Store(change).code(), StatusCode::kCancelled);
  EXPECT_EQ(log_->last_lsn(), 3u);
}

TEST_F(ReplicaLogTest, ReadReturnsAtLeastOneEntryHoweverLargeItIs) {
  Open();
  Append(1, 4, 1000);
  EXPECT_EQ(LsnsOf(*log_->Read(2, 3, kNoLimit)), (std::vector<Lsn>{2, 3}));
  EXPECT_EQ(LsnsOf(*log_->Read(2, kAll, 10)), (std::vector<Lsn>{2}));
}

TEST_F(ReplicaLogTest, DroppedEntriesAreNotFound) {
  Open();
  Append(1, 4);
  ASSERT_TRUE(log_->DropBefore(3).ok());
  EXPECT_EQ(log_->first_lsn(), 3u);
  EXPECT_EQ(log_->Read(2, 4, kNoLimit).status().code(), StatusCode::kNotFound);
  std::deque<LogRun> places = {{2, 4}};
  EXPECT_EQ(log_->ReadForMessage(places, {}).status().code(), StatusCode::kNotFound);
}

TEST_F(ReplicaLogTest, MessagesTakeTheEntriesOfAllPlacesInTheirOrder) {
  Open();
  Append(1, 9);
  std::deque<LogRun> places = {{2, 3}, {5, 5}, {8, 9}};
  const auto entries = log_->ReadForMessage(places, {});
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(LsnsOf(*entries), (std::vector<Lsn>{2, 3, 5, 8, 9}));
  EXPECT_TRUE(places.empty());
}

TEST_F(ReplicaLogTest, EntriesThatDoNotFitIntoAMessageRemainInThePlaces) {
  Open();
  Append(1, 20, 100'000);
  std::deque<LogRun> places = {{2, 9}, {11, 20}};
  std::vector<Lsn> sent;
  int message_count = 0;
  while (!places.empty()) {
    ASSERT_LE(++message_count, 20);
    const auto entries = log_->ReadForMessage(places, {});
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_FALSE(entries->empty());
    EXPECT_LE(entries->size(), 11u) << "more than twice the size of a message";
    for (const LogEntry& entry : *entries) sent.push_back(entry.lsn);
  }
  EXPECT_GT(message_count, 1);
  EXPECT_EQ(sent,
            (std::vector<Lsn>{2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}));
}

TEST_F(ReplicaLogTest, EntriesThatAreAboutToBeStoredAreSentFromTheChange) {
  Open();
  Append(1, 3);
  LogChange change;
  change.entries = {Entry(4), Entry(5, "five"), Entry(6, "six"), Entry(7)};
  std::deque<LogRun> places = {{5, 6}};
  const auto entries = log_->ReadForMessage(places, Unstored(change));
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(LsnsOf(*entries), (std::vector<Lsn>{5, 6}));
  EXPECT_EQ((*entries)[1].payload, "six");
  EXPECT_TRUE(places.empty());
}

TEST_F(ReplicaLogTest, RunThatBeginsInTheLogAndEndsInTheChangeTakesTwoMessages) {
  Open();
  Append(1, 3);
  LogChange change;
  change.entries = {Entry(4), Entry(5)};
  std::deque<LogRun> places = {{2, 5}};
  EXPECT_EQ(LsnsOf(*log_->ReadForMessage(places, Unstored(change))), (std::vector<Lsn>{2, 3}));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places.front().first, 4u);
  EXPECT_EQ(LsnsOf(*log_->ReadForMessage(places, Unstored(change))), (std::vector<Lsn>{4, 5}));
  EXPECT_TRUE(places.empty());
}

TEST_F(ReplicaLogTest, LargeChangeTakesSeveralMessages) {
  Open();
  LogChange change;
  for (Lsn lsn = 1; lsn <= 12; ++lsn)
    change.entries.push_back(Entry(lsn, std::string(100'000, 'x')));
  std::deque<LogRun> places = {{1, 12}};
  std::vector<Lsn> sent;
  int message_count = 0;
  while (!places.empty()) {
    ASSERT_LE(++message_count, 12);
    const auto entries = log_->ReadForMessage(places, Unstored(change));
    ASSERT_TRUE(entries.ok()) << entries.status();
    for (const LogEntry& entry : *entries) sent.push_back(entry.lsn);
  }
  EXPECT_GT(message_count, 1);
  EXPECT_EQ(sent, (std::vector<Lsn>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST_F(ReplicaLogTest, IndexHasTheWritesOfEachOrigin) {
  Open(/*is_ordered=*/false);
  LogChange change;
  change.entries = {Commutative(1, 11, 1), Commutative(2, 22, 1), Commutative(3, 11, 2)};
  Store(std::move(change));
  const auto index = Open(/*is_ordered=*/false).Index();
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->last_lsn(), 3u);
  EXPECT_EQ(index->counts(), (OriginCounts{{11, 2}, {22, 1}}));
  EXPECT_EQ(index->LsnOf(11, 2), Lsn{3});
}

TEST_F(ReplicaLogTest, IndexKnowsTheCountsOfDroppedWritesByTheEntryThatHasThem) {
  Open(/*is_ordered=*/false);
  LogEntry counts = Entry(3, EncodeOriginCounts({{11, 1}, {22, 1}}));
  counts.kind = EntryKind::kOrigins;
  LogChange change;
  change.entries = {Commutative(1, 11, 1), Commutative(2, 22, 1), counts, Commutative(4, 11, 2)};
  Store(std::move(change));
  ASSERT_TRUE(log_->DropBefore(3).ok());
  const auto index = Open(/*is_ordered=*/false).Index();
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->counts(), (OriginCounts{{11, 2}, {22, 1}}));
  EXPECT_FALSE(index->LsnOf(22, 1).has_value()) << "it was dropped";
}

TEST_F(ReplicaLogTest, RestartReplacesTheWholeLog) {
  for (const bool is_ordered : {true, false}) {
    log_.reset();
    committer_.reset();
    for (const std::string& file : world_.sim_storage().log_files().Names()) {
      ASSERT_TRUE(world_.storage().log_files().Remove(file).ok());
    }
    Open(is_ordered);
    Append(1, 5);
    LogChange change;
    change.restart = LogChange::Restart{.base = {7, 3}, .write_set = MemberSet::FirstOf(2)};
    change.entries = {Entry(8), Entry(9)};
    Store(std::move(change));
    const LogOutline found = Open(is_ordered).found();
    EXPECT_EQ(found.base, (EpochStart{7, 3})) << is_ordered;
    EXPECT_EQ(found.last_lsn, 9u) << is_ordered;
  }
}

}  // namespace
}  // namespace neptune
