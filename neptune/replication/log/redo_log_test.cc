#include "neptune/replication/log/redo_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/replication/log/log_records.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_log_files.h"

namespace neptune {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

LogIdentity Identity() { return {"east", ServiceName("forum"), PartitionId(2), NodeId("node-1")}; }

LogEntry Entry(Lsn lsn, Epoch epoch, std::string payload) {
  return {.lsn = lsn, .epoch = epoch, .method = MethodName("Put"), .payload = std::move(payload)};
}

LogEntry WriteSet(Lsn lsn, Epoch epoch, MemberSet members) {
  return {.lsn = lsn, .epoch = epoch, .kind = EntryKind::kWriteSet, .write_set = members};
}

// Model of the log.
struct Model {
  HardState promise;
  Lsn committed = 0;
  EpochStart base;
  MemberSet base_write_set;
  std::vector<LogEntry> entries;

  Lsn first_lsn() const { return base.lsn + 1; }
  Lsn last_lsn() const { return base.lsn + entries.size(); }

  void Store(const LogChange& change) {
    if (change.restart) {
      entries.clear();
      base = change.restart->base;
      base_write_set = change.restart->write_set;
      committed = base.lsn;
    }
    if (change.drop_from != 0) entries.resize(change.drop_from - first_lsn());
    entries.insert(entries.end(), change.entries.begin(), change.entries.end());
    if (change.promise) promise = *change.promise;
    if (change.committed) committed = *change.committed;
  }
  void DropBefore(Lsn first) {
    while (!entries.empty() && first_lsn() < first) {
      const LogEntry& entry = entries.front();
      if (entry.kind == EntryKind::kWriteSet) base_write_set = entry.write_set;
      base = {entry.lsn, entry.epoch};
      entries.erase(entries.begin());
    }
  }
  std::vector<EpochStart> Epochs() const {
    std::vector<EpochStart> epochs;
    for (const LogEntry& entry : entries) {
      if (epochs.empty() || epochs.back().epoch != entry.epoch) {
        epochs.push_back({entry.lsn, entry.epoch});
      }
    }
    return epochs;
  }
  std::vector<WriteSetStart> WriteSets() const {
    std::vector<WriteSetStart> sets;
    for (const LogEntry& entry : entries) {
      if (entry.kind == EntryKind::kWriteSet) sets.push_back({entry.lsn, entry.write_set});
    }
    return sets;
  }
  std::vector<LogEntry> Read(Lsn first, Lsn last, size_t size_max) const {
    std::vector<LogEntry> read;
    size_t size = 0;
    for (const LogEntry& entry : entries) {
      if (entry.lsn < first || entry.lsn > last) continue;
      size += EncodeLogEntry(entry).size();
      if (size > size_max && !read.empty()) break;
      read.push_back(entry);
    }
    return read;
  }
};

bool Matches(const LogOutline& outline, const Model& model) {
  return outline.promise == model.promise && outline.committed == model.committed &&
         outline.first_lsn == model.first_lsn() && outline.base == model.base &&
         outline.base_write_set == model.base_write_set && outline.last_lsn == model.last_lsn() &&
         outline.epochs == model.Epochs() && outline.write_sets == model.WriteSets();
}

std::vector<LogEntry> EntriesOf(const RedoLog& log) {
  if (log.last_lsn() < log.first_lsn()) return {};
  const auto entries = log.Read(log.first_lsn(), log.last_lsn(), kNoLimit);
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() ? *entries : std::vector<LogEntry>();
}

// A random step that the model allows.
class RandomChanges {
 public:
  RandomChanges(uint64_t seed, const Model& model) : random_(seed), model_(model) {}

  LogChange Next() {
    LogChange change;
    Lsn next = model_.last_lsn() + 1;
    const Lsn droppable = std::max(model_.first_lsn(), model_.committed + 1);
    if (random_.Below(20) == 0) {
      next += random_.Below(10);
      epoch_ += random_.Below(2);
      change.restart = {{next - 1, epoch_}, MemberSet(static_cast<uint16_t>(random_.Below(8)))};
    } else if (random_.Below(6) == 0 && droppable < next) {
      next = change.drop_from = droppable + random_.Below(next - droppable + 1);
    }
    if (random_.Below(5) == 0) ++epoch_;
    for (uint64_t count = random_.Below(5); count > 0; --count) {
      change.entries.push_back(NextEntry(next++));
    }
    if (random_.Below(4) == 0) change.promise = NextPromise();
    if (random_.Below(3) == 0 && !change.restart && model_.committed < next - 1) {
      change.committed = model_.committed + random_.Below(next - model_.committed);
    }
    return change;
  }
  RandomSource& random() { return random_; }

 private:
  LogEntry NextEntry(Lsn lsn) {
    if (random_.Below(8) == 0) {
      return WriteSet(lsn, epoch_, MemberSet(static_cast<uint16_t>(random_.Below(8))));
    }
    return Entry(lsn, epoch_, std::string(random_.Below(200), static_cast<char>(random_.Next())));
  }
  HardState NextPromise() {
    HardState promise = {.is_founded = random_.Below(2) == 1, .epoch = epoch_};
    if (random_.Below(2) == 1) promise.voted_for = static_cast<MemberIndex>(random_.Below(3));
    return promise;
  }

  RandomSource random_;
  const Model& model_;
  Epoch epoch_ = 1;
};

constexpr char kName[] = "log-forum-2";

class RedoLogTest : public testing::Test {
 protected:
  void Reopen(size_t cache_size_max = kLogCacheSizeMax) {
    log_.reset();
    node_log_ = std::make_unique<NodeLog>(files_, SharedLogOptions{.segment_size = 8192});
    auto log = RedoLog::Open(*node_log_, kName, Identity(), cache_size_max);
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->damage().ok()) << (*log)->damage();
    log_ = *std::move(log);
  }
  void Crash(RandomSource& random) {
    files_.Crash(random);
    Reopen();
  }
  void RemoveFiles() {
    log_.reset();
    node_log_.reset();
    for (const std::string& name : files_.Names()) ASSERT_TRUE(files_.Remove(name).ok());
  }
  // Opens it as a new process would, and stores something.
  Status OpenAgain(const LogIdentity& identity = Identity()) {
    NodeLog node_log(files_);
    const auto log = RedoLog::Open(node_log, kName, identity);
    if (!log.ok() || !(*log)->damage().ok()) return log.ok() ? (*log)->damage() : log.status();
    return (*log)->Store({.committed = (*log)->opened().committed});
  }
  // Stores this identity record as a log of another version would.
  void StoreIdentity(const std::string& identity) {
    NodeLog node_log(files_);
    const auto attached = node_log.Attach(kName);
    ASSERT_TRUE(attached.ok()) << attached.status();
    PartitionChange change;
    change.partition = attached->found.partition;
    change.identity = identity;
    change.state = EncodeLogState({});
    ASSERT_TRUE(attached->log->Commit({change}).ok());
  }

  SimLogFiles files_;
  std::unique_ptr<NodeLog> node_log_;
  std::unique_ptr<RedoLog> log_;
};

TEST_F(RedoLogTest, NewLogIsEmpty) {
  Reopen();
  EXPECT_TRUE(Matches(log_->opened(), Model()));
  EXPECT_EQ(log_->first_lsn(), 1u);
  EXPECT_EQ(log_->last_lsn(), 0u);
  EXPECT_EQ(log_->Read(1, 1, 1).status().code(), StatusCode::kNotFound);
}

TEST_F(RedoLogTest, RandomChangesAndCrashesMatchTheModel) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RemoveFiles();
    Reopen();
    Model model;
    RandomChanges changes(seed, model);
    RandomSource& random = changes.random();
    for (int step = 0; step < 60; ++step) {
      const LogChange change = changes.Next();
      const Model before = model;
      model.Store(change);
      if (random.Below(12) == 0) {
        files_.FailSyncs(Unavailable("the power is gone"));
        ASSERT_FALSE(log_->Store(change).ok());
        files_.FailSyncs(OkStatus());
        Crash(random);
        if (Matches(log_->opened(), before) && EntriesOf(*log_) == before.entries) model = before;
      } else {
        ASSERT_TRUE(log_->Store(change).ok());
        if (random.Below(10) == 0) Crash(random);
        if (random.Below(10) == 0) Reopen(random.Below(1000));
      }
      ASSERT_EQ(log_->last_lsn(), model.last_lsn());
      ASSERT_EQ(EntriesOf(*log_), model.entries);
      if (random.Below(8) == 0) {
        const Lsn first = model.base.lsn + random.Below(model.entries.size() + 3);
        ASSERT_TRUE(log_->DropBefore(first).ok());
        ASSERT_TRUE(log_->Store({.promise = model.promise}).ok());
        model.DropBefore(first);
      }
      ASSERT_EQ(log_->first_lsn(), model.first_lsn());
      const Lsn first = model.first_lsn() + random.Below(model.entries.size() + 1);
      const Lsn last = first + random.Below(10);
      const size_t size_max = random.Below(600);
      const auto read = log_->Read(first, last, size_max);
      if (first > model.last_lsn()) {
        ASSERT_EQ(read.status().code(), StatusCode::kNotFound);
      } else {
        ASSERT_EQ(*read, model.Read(first, last, size_max));
      }
    }
    Reopen();
    ASSERT_TRUE(Matches(log_->opened(), model));
  }
}

TEST_F(RedoLogTest, CrashMayUndoADropOfOldEntriesAndNothingElse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Reopen();
    const Lsn last = log_->last_lsn();
    ASSERT_TRUE(log_->Store({.entries = {Entry(last + 1, 1, "a"), Entry(last + 2, 1, "b")}}).ok());
    const Lsn old_first = log_->first_lsn();
    ASSERT_TRUE(log_->DropBefore(last + 2).ok());
    RandomSource random(seed);
    Crash(random);
    EXPECT_TRUE(log_->first_lsn() == old_first || log_->first_lsn() == last + 2);
    EXPECT_EQ(log_->last_lsn(), last + 2);
    EXPECT_EQ(log_->opened().base.epoch, log_->first_lsn() == 1 ? 0u : 1u);
  }
}

TEST_F(RedoLogTest, SizeIsThatOfAllEntries) {
  Reopen();
  const std::vector<LogEntry> entries = {Entry(1, 1, "a"), Entry(2, 1, "bcd"), Entry(3, 1, "")};
  ASSERT_TRUE(log_->Store({.entries = entries}).ok());
  ASSERT_TRUE(log_->DropBefore(2).ok());
  EXPECT_EQ(log_->size(), EncodeLogEntry(entries[1]).size() + EncodeLogEntry(entries[2]).size());
  ASSERT_TRUE(log_->Store({.drop_from = 2}).ok());
  EXPECT_EQ(log_->size(), 0u);
}

TEST_F(RedoLogTest, ForgottenLogHasNothingButIsNotNew) {
  Reopen();
  ASSERT_TRUE(log_->Store({.entries = {Entry(1, 4, "a"), Entry(2, 5, "b")},
                           .promise = HardState{.is_founded = true, .epoch = 5}})
                  .ok());
  ASSERT_TRUE(log_->Forget().ok());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(log_->opened().last_lsn, 0u);
    EXPECT_EQ(log_->last_lsn(), 0u);
    EXPECT_EQ(log_->opened().promise, (HardState{.is_founded = false, .epoch = 5}));
    EXPECT_EQ(log_->Read(1, 1, 1).status().code(), StatusCode::kNotFound);
    Reopen();
  }
  EXPECT_TRUE(log_->Store({.entries = {Entry(1, 6, "c")}}).ok());
}

TEST_F(RedoLogTest, ForgottenLogOfCommutativeWritesBeginsANewLife) {
  LogIdentity identity = Identity();
  identity.is_ordered = false;
  NodeLog node_log(files_);
  const auto log = RedoLog::Open(node_log, kName, identity);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Store({.promise = HardState{.is_founded = true, .epoch = 123}}).ok());
  ASSERT_TRUE((*log)->Forget().ok());
  EXPECT_EQ((*log)->opened().promise, HardState());
}

class DamagedLogTest : public RedoLogTest {
 protected:
  // Three entries, none of them cached.
  void SetUp() override {
    Reopen(0);
    ASSERT_TRUE(log_->Store({.entries = {Entry(1, 1, "the first"), WriteSet(2, 1, MemberSet(7)),
                                         Entry(3, 1, "the third")}})
                    .ok());
    for (const std::string& name : files_.Names()) {
      const size_t at = files_.ContentsOf(name).find("the first");
      if (at == std::string::npos) continue;
      segment_ = name;
      place_ = at;
    }
    ASSERT_NE(place_, 0u);
  }

  std::string segment_;
  size_t place_ = 0;  // of the first entry's payload
};

TEST_F(DamagedLogTest, DamagedLogSaysSoAndIsUsedOnlyAfterItHasForgotten) {
  log_.reset();
  node_log_.reset();  // which makes the mark durable
  files_.FlipBit(segment_, place_, 5);
  NodeLog node_log(files_);
  const auto log = RedoLog::Open(node_log, kName, Identity());
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ((*log)->damage().code(), StatusCode::kDataLoss);
  EXPECT_EQ((*log)->opened().last_lsn, 0u);
  EXPECT_EQ((*log)->Store({.entries = {Entry(1, 1, "x")}}).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*log)->Read(1, 3, 1).status().code(), StatusCode::kDataLoss);
  ASSERT_TRUE((*log)->Forget().ok());
  EXPECT_TRUE((*log)->damage().ok());
  EXPECT_GT((*log)->opened().promise.epoch, 0u);
  EXPECT_TRUE((*log)->Store({.entries = {Entry(1, 1, "x")}}).ok());
  Reopen();
  EXPECT_EQ(log_->last_lsn(), 1u);
}

TEST_F(DamagedLogTest, EntryThatDecaysIsNotReadAndDamagesTheLog) {
  files_.FlipBit(segment_, place_, 5);
  EXPECT_EQ(log_->Read(1, 1, kNoLimit).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(log_->Read(1, 3, kNoLimit).status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE(log_->Read(2, 3, kNoLimit).ok());
  const auto again = RedoLog::Open(*node_log_, kName, Identity());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->damage().code(), StatusCode::kDataLoss) << "opened in the same process";
  EXPECT_NE(ToStd((*again)->damage().message()).find("entry 1:"), std::string::npos)
      << (*again)->damage();
}

// Both entries are sound, but one of them is not where it was written.
TEST_F(DamagedLogTest, EntryAtThePlaceOfAnotherIsDamage) {
  const std::string first = EncodeLogEntry(Entry(1, 1, "the first"));
  const std::string third = EncodeLogEntry(Entry(3, 1, "the third"));
  ASSERT_EQ(first.size(), third.size());
  std::string contents = files_.ContentsOf(segment_);
  const size_t at = contents.find(first);
  ASSERT_NE(at, std::string::npos);
  files_.Replace(segment_, contents.replace(at, third.size(), third));
  const Status status = log_->Read(1, 1, kNoLimit).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
  EXPECT_NE(ToStd(status.message()).find("entry 3 found where 1"), std::string::npos) << status;
}

TEST_F(DamagedLogTest, UnreadableEntryIsDamageWhenTheLogIsOpened) {
  files_.MakeUnreadable(segment_, place_, 1);
  EXPECT_EQ(log_->Read(1, 1, kNoLimit).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss);
}

TEST_F(RedoLogTest, LogOfAnotherIsRefused) {
  ASSERT_TRUE(OpenAgain().ok());
  const std::string own =
      "the log belongs to partition 2 of forum in cluster east on node node-1, of ordered writes, "
      "not to ";
  const auto expect_refused = [&](const std::function<void(LogIdentity&)>& change,
                                  const std::string& other) {
    LogIdentity identity = Identity();
    change(identity);
    const Status status = OpenAgain(identity);
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << other;
    EXPECT_NE(ToStd(status.message()).find(own + other), std::string::npos) << status;
  };
  expect_refused([](LogIdentity& log) { log.cluster = "west"; },
                 "partition 2 of forum in cluster west on node node-1, of ordered writes");
  expect_refused([](LogIdentity& log) { log.service = ServiceName("auction"); },
                 "partition 2 of auction in cluster east on node node-1, of ordered writes");
  expect_refused([](LogIdentity& log) { log.partition = PartitionId(3); },
                 "partition 3 of forum in cluster east on node node-1, of ordered writes");
  expect_refused([](LogIdentity& log) { log.node = NodeId("node-2"); },
                 "partition 2 of forum in cluster east on node node-2, of ordered writes");
  expect_refused([](LogIdentity& log) { log.is_ordered = false; },
                 "partition 2 of forum in cluster east on node node-1, of level write_anywhere");
  EXPECT_TRUE(OpenAgain().ok());
}

LogIdentity WithMembers(std::vector<NodeId> members) {
  LogIdentity identity = Identity();
  identity.members = std::move(members);
  return identity;
}

TEST_F(RedoLogTest, MembersKeepTheirPlaces) {
  const NodeId a("node-1"), b("b"), c("c"), d("d");
  ASSERT_TRUE(OpenAgain(WithMembers({a, b, c})).ok());
  for (const std::vector<NodeId>& members : std::initializer_list<std::vector<NodeId>>{
           {}, {a, b}, {b, c}, {a, b, c, d}, {d, a, b, c}, {a, c, b}, {b, a, c}, {a, c, d}}) {
    const Status status = OpenAgain(WithMembers(members));
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << members.size();
    EXPECT_NE(ToStd(status.message()).find("its members were node-1 b c, but the spec has"),
              std::string::npos)
        << status;
  }
  EXPECT_TRUE(OpenAgain(WithMembers({a, b, d})).ok()) << "d takes the place of c";
  EXPECT_FALSE(OpenAgain(WithMembers({a, d, b})).ok()) << "by now d has that place";
  EXPECT_TRUE(OpenAgain(WithMembers({a, b, c})).ok()) << "c takes it back";
}

LogIdentity OfPartitions(uint32_t count) {
  LogIdentity identity = WithMembers({NodeId("node-1"), NodeId("b")});
  identity.partition_count = count;
  return identity;
}

TEST_F(RedoLogTest, DataOfAnotherCountOfPartitionsAreRefused) {
  ASSERT_TRUE(OpenAgain(OfPartitions(8)).ok());
  for (const uint32_t count : {1, 4, 9, 16}) {
    const Status status = OpenAgain(OfPartitions(count));
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << count;
    EXPECT_NE(ToStd(status.message())
                  .find(StrCat("of forum are in 8 partitions, but the spec has ", count, ":")),
              std::string::npos)
        << status;
  }
  EXPECT_TRUE(OpenAgain(OfPartitions(0)).ok()) << "not compared";
  EXPECT_FALSE(OpenAgain(OfPartitions(4)).ok()) << "and not forgotten";
  EXPECT_TRUE(OpenAgain(OfPartitions(8)).ok());
}

TEST_F(RedoLogTest, LogOfAnotherVersionIsRefused) {
  std::string body = EncodeLogIdentity(Identity()).substr(sizeof(uint64_t));
  body[0] = 3;
  std::string sealed;
  ByteWriter out(&sealed);
  out.Number(Checksum64(body));
  out.Bytes(body);
  StoreIdentity(sealed);
  const Status status = OpenAgain();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("version 3, expected 4"), std::string::npos) << status;
}

TEST_F(RedoLogTest, LogWithoutAnIdentityIsDamaged) {
  StoreIdentity("rubbish");
  EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss);
}

TEST_F(RedoLogTest, FullDiskRefusesAndLosesNothing) {
  Reopen();
  ASSERT_TRUE(log_->Store({.entries = {Entry(1, 1, "kept")}}).ok());
  files_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(log_->Store({.entries = {Entry(2, 1, "refused")}}).code(),
            StatusCode::kResourceExhausted);
  files_.FailWrites(OkStatus());
  EXPECT_EQ(log_->Store({.entries = {Entry(2, 1, "not before it is opened again")}}).code(),
            StatusCode::kUnavailable);
  Reopen();
  EXPECT_EQ(EntriesOf(*log_), std::vector<LogEntry>{Entry(1, 1, "kept")});
  EXPECT_TRUE(log_->Store({.entries = {Entry(2, 1, "taken")}}).ok());
}

TEST_F(RedoLogTest, ChangesThatMakeNoSenseChangeNothing) {
  Reopen();
  ASSERT_TRUE(log_->Store({.entries = {Entry(1, 1, "a"), Entry(2, 1, "b"), Entry(3, 1, "c")},
                           .committed = 2})
                  .ok());
  LogEntry long_method = Entry(4, 1, "");
  long_method.method = MethodName(std::string(256, 'm'));
  for (const LogChange& change : std::initializer_list<LogChange>{
           {.entries = {Entry(3, 1, "again")}},
           {.entries = {Entry(5, 1, "a gap")}},
           {.entries = {Entry(4, 1, ""), Entry(6, 1, "a gap between")}},
           {.drop_from = 2},
           {.drop_from = 5},
           {.entries = {long_method}},
           {.entries = {Entry(4, 1, std::string(kLogPayloadSizeMax + 1, 'x'))}}}) {
    EXPECT_EQ(log_->Store(change).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(log_->last_lsn(), 3u);
  EXPECT_TRUE(log_->Store({.entries = {Entry(4, 1, "follows")}}).ok());
}

TEST_F(RedoLogTest, StateBeyondTheLimitIsDamaged) {
  LogOutline outline;
  outline.base.lsn = outline.last_lsn = outline.committed = kLsnMax;
  EXPECT_TRUE(DecodeLogState(EncodeLogState(outline)).ok());
  outline.last_lsn = kLsnMax + 1;
  EXPECT_EQ(DecodeLogState(EncodeLogState(outline)).status().code(), StatusCode::kDataLoss);
  // After this base the first entry would be 0, and an empty log would hold all entries.
  outline.base.lsn = outline.last_lsn = std::numeric_limits<Lsn>::max();
  EXPECT_EQ(DecodeLogState(EncodeLogState(outline)).status().code(), StatusCode::kDataLoss);
  outline.base.lsn = outline.last_lsn = 0;
  outline.committed = kLsnMax + 1;
  EXPECT_EQ(DecodeLogState(EncodeLogState(outline)).status().code(), StatusCode::kDataLoss);
}

TEST_F(RedoLogTest, LogEndsAtTheLimit) {
  Reopen();
  const LogChange::Restart beyond = {.base = {kLsnMax + 1, 1}, .write_set = {}};
  EXPECT_EQ(log_->Store({.restart = beyond}).code(), StatusCode::kInvalidArgument);
  const LogChange::Restart before = {.base = {kLsnMax - 1, 1}, .write_set = {}};
  ASSERT_TRUE(log_->Store({.restart = before}).ok());
  ASSERT_TRUE(log_->Store({.entries = {Entry(kLsnMax, 1, "the last")}}).ok());
  EXPECT_EQ(log_->Store({.entries = {Entry(kLsnMax + 1, 1, "one more")}}).code(),
            StatusCode::kInvalidArgument);
  Reopen();
  EXPECT_EQ(EntriesOf(*log_), std::vector<LogEntry>{Entry(kLsnMax, 1, "the last")});
}

TEST_F(RedoLogTest, LargestWriteFits) {
  Reopen();
  const LogEntry largest = Entry(1, 1, std::string(kLogPayloadSizeMax, 'x'));
  ASSERT_TRUE(log_->Store({.entries = {largest}}).ok());
  EXPECT_EQ(EntriesOf(*log_), std::vector<LogEntry>{largest});
}

}  // namespace
}  // namespace neptune
