#include "neptune/replication/log/redo_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_storage.h"

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

// A store with a write of uncertain outcome: it may or may not survive the crash.
class UncertainStore : public KeyValueStore {
 public:
  explicit UncertainStore(KeyValueStore& store) : store_(store) {}
  void MakeNextWriteUncertain() { is_uncertain_ = true; }

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    return store_.Get(key);
  }
  Status Write(const WriteBatch& batch, WriteMode mode) override {
    if (!is_uncertain_) return store_.Write(batch, mode);
    NEPTUNE_RETURN_IF_ERROR(store_.Write(batch, WriteMode::kBuffered));
    return Unavailable("the power is gone");
  }
  Status Sync() override { return store_.Sync(); }
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return store_.Scan(options, visitor);
  }

 private:
  KeyValueStore& store_;
  bool is_uncertain_ = false;
};

class RedoLogTest : public testing::Test {
 protected:
  void Reopen(size_t cache_size_max = kLogCacheSizeMax) {
    log_.reset();
    uncertain_.reset();
    store_.reset();
    store_ = *storage_.Open("log");
    uncertain_ = std::make_unique<UncertainStore>(*store_);
    auto log = RedoLog::Open(*uncertain_, Identity(), cache_size_max);
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }
  void Crash(RandomSource& random) {
    storage_.Crash(random);
    Reopen();
  }
  Status OpenAgain(const LogIdentity& identity = Identity()) {
    return RedoLog::Open(*store_, identity).status();
  }

  SimStorage storage_;
  std::unique_ptr<KeyValueStore> store_;
  std::unique_ptr<UncertainStore> uncertain_;
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
    log_.reset();
    uncertain_.reset();
    store_.reset();
    ASSERT_TRUE(storage_.Destroy("log").ok());
    Reopen();
    Model model;
    RandomChanges changes(seed, model);
    RandomSource& random = changes.random();
    for (int step = 0; step < 60; ++step) {
      const LogChange change = changes.Next();
      const Model before = model;
      model.Store(change);
      if (random.Below(12) == 0) {
        uncertain_->MakeNextWriteUncertain();
        ASSERT_FALSE(log_->Store(change).ok());
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

// Calls `expect` with each way to cut the bytes or to flip one of their bits.
void ForEachDamage(const std::string& bytes,
                   const std::function<void(const std::string&)>& expect) {
  for (size_t size = 0; size < bytes.size(); ++size) expect(bytes.substr(0, size));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    expect(flipped);
  }
}

class DamagedLogTest : public RedoLogTest {
 protected:
  // Three entries, none of them cached.
  void SetUp() override {
    Reopen(0);
    ASSERT_TRUE(log_->Store({.entries = {Entry(1, 1, "one"), WriteSet(2, 1, MemberSet(7)),
                                         Entry(3, 1, "x")}})
                    .ok());
    const Status status = store_->Scan({}, [&](std::string_view key, std::string_view value) {
      records_.emplace_back(key, value);
      return true;
    });
    ASSERT_TRUE(status.ok());
    ASSERT_EQ(records_.size(), 5u);
  }
  void Put(std::string_view key, std::string_view value) {
    ASSERT_TRUE(store_->Put(key, value, WriteMode::kSynced).ok());
  }

  std::vector<std::pair<std::string, std::string>> records_;  // three entries, identity, state
};

TEST_F(DamagedLogTest, DamagedRecordIsNeverTaken) {
  for (const auto& [key, value] : records_) {
    ForEachDamage(value, [&, &key = key](const std::string& damaged) {
      Put(key, damaged);
      EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss) << key;
    });
    Put(key, value);
  }
  EXPECT_TRUE(OpenAgain().ok());
}

TEST_F(DamagedLogTest, DamagedEntryIsNotRead) {
  for (Lsn lsn = 1; lsn <= 3; ++lsn) {
    const auto& [key, value] = records_[lsn - 1];
    ForEachDamage(value, [&, &key = key](const std::string& damaged) {
      Put(key, damaged);
      EXPECT_EQ(log_->Read(lsn, lsn, kNoLimit).status().code(), StatusCode::kDataLoss);
      EXPECT_EQ(log_->Read(1, 3, kNoLimit).status().code(), StatusCode::kDataLoss);
    });
    Put(key, value);
  }
}

TEST_F(DamagedLogTest, MissingRecordIsFound) {
  for (const auto& [key, value] : records_) {
    WriteBatch batch;
    batch.Delete(key);
    ASSERT_TRUE(store_->Write(batch, WriteMode::kSynced).ok());
    EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss) << key;
    Put(key, value);
  }
}

TEST_F(DamagedLogTest, MessageNamesTheLsn) {
  Put(records_[1].first, "damage");
  EXPECT_NE(OpenAgain().message().find("log entry 2"), absl::string_view::npos) << OpenAgain();
  Put(records_[1].first, records_[0].second);
  EXPECT_NE(OpenAgain().message().find("log entry 1 found where 2"), absl::string_view::npos);
}

TEST_F(DamagedLogTest, SurplusRecordIsFound) {
  std::string key = records_[2].first;
  ++key.back();
  Put(key, EncodeLogEntry(Entry(4, 1, "never stored by the log")));
  EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss);
}

TEST_F(RedoLogTest, LogOfAnotherIsRefused) {
  Reopen();
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
  store_ = *storage_.Open("log");
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
  store_ = *storage_.Open("log");
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

std::string SealedAs(std::string_view body) {
  std::string sealed;
  ByteWriter out(&sealed);
  out.Number(Checksum64(body));
  out.Bytes(body);
  return sealed;
}

TEST_F(RedoLogTest, DataThatSayNoCountOfPartitionsGetTheFirstThatIsExpected) {
  store_ = *storage_.Open("log");
  ASSERT_TRUE(OpenAgain(OfPartitions(8)).ok());
  std::string body = (**store_->Get("i")).substr(sizeof(uint64_t));
  body[0] = 2;
  const size_t members = 2 + 6 + 2 + 1;  // node-1 and b, with their sizes
  body.erase(body.size() - members - sizeof(uint32_t), sizeof(uint32_t));
  ASSERT_TRUE(store_->Put("i", SealedAs(body), WriteMode::kSynced).ok());
  EXPECT_TRUE(OpenAgain(OfPartitions(4)).ok());
  EXPECT_FALSE(OpenAgain(OfPartitions(8)).ok());
  EXPECT_TRUE(OpenAgain(OfPartitions(4)).ok());
}

// A record with a correct checksum may still be invalid.
TEST_F(RedoLogTest, LogOfAnotherVersionIsRefused) {
  Reopen();
  const std::string identity = **store_->Get("i");
  std::string body = identity.substr(sizeof(uint64_t));
  body[0] = 1;
  ASSERT_TRUE(store_->Put("i", SealedAs(body), WriteMode::kSynced).ok());
  const Status status = OpenAgain();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(ToStd(status.message()).find("version 1, expected 2 or 3"), std::string::npos)
      << status;
}

TEST_F(RedoLogTest, StoreOfSomethingElseIsRefused) {
  store_ = *storage_.Open("log");
  ASSERT_TRUE(store_->Put("user", "x", WriteMode::kSynced).ok());
  EXPECT_EQ(OpenAgain().code(), StatusCode::kDataLoss);
}

TEST_F(RedoLogTest, FullDiskRefusesAndLosesNothing) {
  Reopen();
  ASSERT_TRUE(log_->Store({.entries = {Entry(1, 1, "kept")}}).ok());
  storage_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(log_->Store({.entries = {Entry(2, 1, "refused")}}).code(),
            StatusCode::kResourceExhausted);
  storage_.FailWrites(OkStatus());
  EXPECT_EQ(log_->Store({.entries = {Entry(2, 1, "not before it is opened again")}}).code(),
            StatusCode::kFailedPrecondition);
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

TEST_F(RedoLogTest, LargestWriteFits) {
  Reopen();
  const LogEntry largest = Entry(1, 1, std::string(kLogPayloadSizeMax, 'x'));
  ASSERT_TRUE(log_->Store({.entries = {largest}}).ok());
  EXPECT_EQ(EntriesOf(*log_), std::vector<LogEntry>{largest});
}

}  // namespace
}  // namespace neptune
