// What is stored in a node's log decays: it is found, and replaced, while the log is in use.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"
#include "neptune/replication/log/shared_log.h"
#include "neptune/world/sim/sim_log_files.h"

namespace neptune {
namespace {

constexpr size_t kCopySize = 100;

using Entries = std::vector<std::string>;

class SharedLogCheckTest : public testing::Test {
 protected:
  SharedLogCheckTest() { Open(); }

  void Open() {
    log_.reset();
    auto log = SharedLog::Open(files_, {.segment_size = 1500, .new_salt = 0x63});
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *log;
  }
  // Stores `count` more entries; drops those before `kept`.
  void Store(const std::string& name, int count, Lsn kept = 1) {
    Entries& entries = expected_[name];
    PartitionChange change;
    change.partition = log_->Attach(name).partition;
    change.entries_lsn = entries.size() + 1;
    for (int i = 0; i < count; ++i) {
      entries.push_back(Sealed(StrCat("write ", entries.size() + 1, " of ", name)));
      change.entries.push_back(entries.back());
    }
    change.first_lsn = kept;
    change.last_lsn = entries.size();
    change.state = StrCat("state at ", change.last_lsn);
    ASSERT_TRUE(log_->Commit({change}).ok());
  }
  // Several segments of three partitions.
  void StoreSome() {
    for (int i = 0; i < 8; ++i) {
      Store("a", 2);
      Store("b", 1);
      if (i == 1) Store("c", 3);
    }
  }
  // Reads everything back; returns what was found damaged.
  std::vector<std::string> CheckAll(size_t size_max = 200) {
    std::vector<std::string> found;
    checked_size_ = 0;
    const LogSpot end = log_->end();
    for (LogSpot at; at < end;) {
      const auto checked = log_->Check(at, size_max);
      EXPECT_TRUE(checked.ok()) << checked.status();
      if (!checked.ok()) break;
      if (!checked->damage.empty()) found.push_back(checked->damage);
      checked_size_ += checked->size;
      EXPECT_LT(at, checked->next);
      at = checked->next;
    }
    return found;
  }
  // Returns the number of steps.
  int MendAll() {
    for (int i = 1; i < 1000; ++i) {
      const StatusOr<bool> goes_on = log_->Mend(kCopySize);
      EXPECT_TRUE(goes_on.ok()) << goes_on.status();
      if (!goes_on.ok() || !*goes_on) return i;
    }
    ADD_FAILURE() << "it does not end";
    return 0;
  }
  SharedLog::Damage DamageOf(const std::string& name) {
    return log_->DamageOf(log_->Attach(name).partition);
  }
  void ExpectWhole(const std::string& name) {
    const SharedLog::Found found = log_->Attach(name);
    ASSERT_TRUE(found.damage.ok()) << found.damage;
    const Entries& all = expected_[name];
    ASSERT_EQ(found.last_lsn, all.size());
    const auto entries = log_->Read(found.partition, found.first_lsn, found.last_lsn, SIZE_MAX);
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(*entries, Entries(all.begin() + static_cast<int>(found.first_lsn) - 1, all.end()));
    EXPECT_EQ(found.state, StrCat("state at ", all.size()));
  }
  std::vector<std::string> Segments() const {
    std::vector<std::string> segments;
    for (const std::string& name : files_.Names()) {
      if (!name.ends_with("-mark")) segments.push_back(name);
    }
    return segments;
  }

  SimLogFiles files_;
  std::shared_ptr<SharedLog> log_;
  std::map<std::string, Entries> expected_;
  size_t checked_size_ = 0;
};

TEST_F(SharedLogCheckTest, SoundLogIsReadBackWhole) {
  StoreSome();
  ASSERT_GE(Segments().size(), 2u);
  size_t size = 0;
  for (const std::string& name : Segments()) size += files_.ContentsOf(name).size();
  for (const size_t part : {size_t{1}, size_t{200}, size_t{100'000}}) {
    EXPECT_TRUE(CheckAll(part).empty());
    EXPECT_EQ(checked_size_, size);
  }
  EXPECT_EQ(MendAll(), 1) << "there is nothing to mend";
  EXPECT_EQ(log_->statistics().damage_count, 0u);
}

// Any flipped bit is found, costs at most the partition whose entry it is in, and is gone from the
// disk afterwards: the next process finds no damage but that of the lost entry.
TEST_F(SharedLogCheckTest, AnyFlippedBitIsFoundAndReplaced) {
  StoreSome();
  log_.reset();
  std::map<std::string, std::string> disk;
  for (const std::string& name : files_.Names()) disk[name] = files_.ContentsOf(name);
  std::set<int> damaged_counts;
  for (const auto& [file, contents] : disk) {
    if (file.ends_with("-mark")) continue;
    for (size_t byte = 0; byte < contents.size(); byte += 3) {
      SCOPED_TRACE(StrCat("byte ", byte, " of ", file));
      for (const std::string& name : files_.Names()) ASSERT_TRUE(files_.Remove(name).ok());
      for (const auto& [name, bytes] : disk) files_.Replace(name, bytes);
      Open();
      files_.FlipBit(file, byte, static_cast<int>(byte % 8));
      ASSERT_EQ(CheckAll().size(), 1u);
      std::map<std::string, bool> is_damaged;
      for (const auto& [name, entries] : expected_) is_damaged[name] = !DamageOf(name).status.ok();
      (void)MendAll();
      EXPECT_TRUE(CheckAll().empty()) << "it is gone";
      for (const bool is_again : {false, true}) {
        if (is_again) Open();
        EXPECT_TRUE(log_->statistics().damage.empty()) << log_->statistics().damage;
        for (const auto& [name, damaged] : is_damaged) {
          EXPECT_EQ(!log_->Attach(name).damage.ok(), damaged) << name << " " << is_again;
          if (!damaged) ExpectWhole(name);
        }
      }
      int count = 0;
      for (const auto& [name, damaged] : is_damaged) count += damaged ? 1 : 0;
      damaged_counts.insert(count);
    }
  }
  EXPECT_EQ(damaged_counts, (std::set<int>{0, 1}));
}

TEST_F(SharedLogCheckTest, LogIsWholeAgainOnceTheLostEntryIsDropped) {
  StoreSome();
  const std::string first = Segments().front();
  const size_t at = files_.ContentsOf(first).find("write 2 of b");
  ASSERT_NE(at, std::string::npos);
  files_.FlipBit(first, at, 3);
  ASSERT_EQ(CheckAll().size(), 1u);
  EXPECT_EQ(DamageOf("b").status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(DamageOf("b").last_lost, 2u);
  const uint32_t number = log_->Attach("b").partition;
  EXPECT_EQ(log_->Read(number, 2, 2, 1).status().code(), StatusCode::kDataLoss);
  Store("b", 1, 2);
  EXPECT_FALSE(DamageOf("b").status.ok()) << "it is still there";
  Store("b", 1, 3);
  ExpectWhole("b");
  (void)MendAll();
  EXPECT_NE(Segments().front(), first);
  Open();
  for (const char* name : {"a", "b", "c"}) ExpectWhole(name);
}

TEST_F(SharedLogCheckTest, WritesGoOnWhileASegmentIsReplaced) {
  StoreSome();
  files_.FlipBit(Segments().front(), 40, 1);  // in the record of a segment's beginning
  ASSERT_EQ(CheckAll().size(), 1u);
  for (int i = 0; i < 50; ++i) {
    Store(i % 2 == 0 ? "a" : "c", 1);
    ASSERT_TRUE(log_->Mend(1).ok());
  }
  (void)MendAll();
  EXPECT_TRUE(CheckAll().empty());
  Open();
  for (const char* name : {"a", "b", "c"}) ExpectWhole(name);
}

TEST_F(SharedLogCheckTest, BytesThatTheDiskCannotReadNowAreNotTakenForLost) {
  StoreSome();
  const std::string first = Segments().front();
  files_.MakeUnreadable(first, 100, 10);
  LogSpot at;
  StatusOr<SharedLog::Checked> checked = log_->Check(at, 10'000);
  EXPECT_FALSE(checked.ok());
  files_.MakeUnreadable(first, 0, 0);
  EXPECT_TRUE(CheckAll().empty());
  for (const char* name : {"a", "b", "c"}) ExpectWhole(name);
}

TEST_F(SharedLogCheckTest, TruncatedSegmentIsFound) {
  StoreSome();
  const std::string first = Segments().front();
  const std::string contents = files_.ContentsOf(first);
  files_.Replace(first, contents.substr(0, contents.size() - 10));
  EXPECT_EQ(CheckAll().size(), 1u);
  (void)MendAll();
  Open();
  EXPECT_TRUE(log_->statistics().damage.empty()) << log_->statistics().damage;
}

}  // namespace
}  // namespace neptune
