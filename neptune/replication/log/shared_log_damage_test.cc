// Damage of a node's log: what is lost is reported, and what is torn is not taken for lost.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"
#include "neptune/replication/log/shared_log.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_log_files.h"

namespace neptune {
namespace {

constexpr char kSegment[] = "0000000000000063-00000001";
constexpr char kMark[] = "0000000000000063-mark";

// State and entries of a partition, or that it is damaged or new.
struct Seen {
  bool is_damaged = false;
  bool is_new = false;
  std::string state;
  Lsn first = 1;
  std::vector<std::string> entries;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// The contents of all files.
using Disk = std::map<std::string, std::string>;

class SharedLogDamageTest : public testing::Test {
 protected:
  static std::shared_ptr<SharedLog> Open(SimLogFiles& files) {
    auto log = SharedLog::Open(files, {.segment_size = 1500, .new_salt = 0x63});
    EXPECT_TRUE(log.ok()) << log.status();
    return *log;
  }
  void Open() {
    log_.reset();
    log_ = Open(files_);
  }
  // Stores entries from `first` on in place of others, and drops those before `kept`.
  void Store(const std::string& name, Lsn first, int count, Lsn kept = 1) {
    PartitionChange change;
    change.partition = log_->Attach(name).partition;
    change.drop_from = change.entries_lsn = first;
    for (int i = 0; i < count; ++i) {
      change.entries.push_back(Sealed(StrCat("write ", ++write_count_, " of ", name)));
    }
    change.first_lsn = kept;
    change.last_lsn = first + static_cast<Lsn>(count) - 1;
    change.state = StrCat("state at ", change.last_lsn);
    ASSERT_TRUE(log_->Commit({change}).ok());
  }
  static Seen SeenOf(SharedLog& log, const std::string& name) {
    const SharedLog::Found found = log.Attach(name);
    if (!found.damage.ok()) return {.is_damaged = true};
    Seen seen = {.is_new = found.is_new, .state = found.state, .first = found.first_lsn};
    if (found.last_lsn < found.first_lsn) return seen;
    const auto entries = log.Read(found.partition, found.first_lsn, found.last_lsn, SIZE_MAX);
    if (!entries.ok()) return {.is_damaged = true};
    seen.entries = *entries;
    for (const std::string& entry : seen.entries) {
      if (!Unsealed(entry, "entry").ok()) return {.is_damaged = true};
    }
    EXPECT_EQ(seen.entries.size(), found.last_lsn + 1 - found.first_lsn);
    return seen;
  }
  Disk DiskNow() const {
    Disk disk;
    for (const std::string& name : files_.Names()) disk[name] = files_.ContentsOf(name);
    return disk;
  }
  // What a process sees that opens these files.
  static std::map<std::string, Seen> SeenOn(const Disk& disk) {
    SimLogFiles files;
    for (const auto& [name, contents] : disk) files.Replace(name, contents);
    const std::shared_ptr<SharedLog> log = Open(files);
    std::map<std::string, Seen> seen;
    for (const char* name : {"a", "b", "c"}) seen[name] = SeenOf(*log, name);
    return seen;
  }
  // Several segments, with dropped and truncated entries, closed properly.
  Disk SomeDisk() {
    Open();
    for (Lsn i = 0; i < 6; ++i) {
      Store("a", 1 + 2 * i, 2);
      Store("b", 1 + i, 1, i > 2 ? i - 1 : 1);
      if (i == 1) Store("c", 1, 3);
    }
    Store("b", 5, 1, 4);  // "b" loses its last entries and gets others
    Store("b", 6, 1, 4);
    Store("a", 13, 1);
    log_.reset();
    return DiskNow();
  }

  SimLogFiles files_;
  std::shared_ptr<SharedLog> log_;
  int write_count_ = 0;
};

TEST_F(SharedLogDamageTest, AnyFlippedBitIsHarmlessOrReported) {
  const Disk disk = SomeDisk();
  ASSERT_GE(disk.size(), 3u) << "several segments and the mark";
  const std::map<std::string, Seen> sound = SeenOn(disk);
  for (const auto& [name, seen] : sound) ASSERT_FALSE(seen.is_damaged || seen.is_new) << name;
  int reported_count = 0;
  for (const auto& [file, contents] : disk) {
    for (size_t bit = 0; bit < 8 * contents.size(); ++bit) {
      if (bit / 8 > 64 && bit % 8 != bit / 8 % 8) continue;  // one bit of most bytes is enough
      Disk damaged = disk;
      char& byte = damaged[file][bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      for (const auto& [name, seen] : SeenOn(damaged)) {
        reported_count += seen.is_damaged ? 1 : 0;
        EXPECT_TRUE(seen.is_damaged || seen == sound.at(name))
            << "bit " << bit << " of " << file << ": partition " << name << " has "
            << seen.entries.size() << " entries from " << seen.first << ", state " << seen.state;
      }
    }
  }
  EXPECT_GT(reported_count, 0);
}

TEST_F(SharedLogDamageTest, AnyMissingFileIsReportedByThePartitionsThatNeedIt) {
  const Disk disk = SomeDisk();
  const std::map<std::string, Seen> sound = SeenOn(disk);
  for (const auto& [file, contents] : disk) {
    Disk damaged = disk;
    damaged.erase(file);
    for (const auto& [name, seen] : SeenOn(damaged)) {
      EXPECT_TRUE(seen.is_damaged || seen == sound.at(name)) << file << " " << name;
    }
  }
}

// The last write ends at any byte, or is followed by rubbish: it was not acknowledged.
TEST_F(SharedLogDamageTest, TornEndsOfAllSizesAreAccepted) {
  Open();
  Store("a", 1, 2);
  Store("b", 1, 1);
  Store("c", 1, 1);
  const Disk before = DiskNow();
  Store("a", 3, 2);
  const std::string after = files_.ContentsOf(kSegment);
  const std::map<std::string, Seen> sound = SeenOn(before);
  RandomSource random(1);
  for (size_t size = before.at(kSegment).size(); size < after.size(); ++size) {
    for (const int rest : {0, 1, 2}) {
      Disk torn = before;
      torn[kSegment] = after.substr(0, size);
      if (rest > 0) torn[kSegment].resize(after.size());
      for (size_t i = size; rest == 2 && i < after.size(); ++i) {
        torn[kSegment][i] = static_cast<char>(random.Next());
      }
      EXPECT_EQ(SeenOn(torn), sound) << size << " " << rest;
    }
  }
}

TEST_F(SharedLogDamageTest, LastBatchThatTheMarkClaimsIsMissed) {
  Open();
  Store("a", 1, 2);
  Store("b", 1, 1);
  const size_t size = files_.ContentsOf(kSegment).size();
  Store("a", 3, 2);
  ASSERT_TRUE(log_->SyncMark().ok());
  Disk disk = DiskNow();
  for (size_t cut = size; cut < disk[kSegment].size(); cut += 7) {
    Disk damaged = disk;
    damaged[kSegment].resize(cut);
    EXPECT_TRUE(SeenOn(damaged)["a"].is_damaged) << cut;
  }
  disk[kMark].clear();
  disk[kSegment].resize(size + 5);
  EXPECT_FALSE(SeenOn(disk)["a"].is_damaged) << "without the mark it is a torn end";
}

TEST_F(SharedLogDamageTest, PartitionsWhoseLaterRecordsFollowTheirEarlierOnesGoOn) {
  Open();
  Store("a", 1, 1);
  Store("b", 1, 1);
  Store("c", 1, 1);
  const size_t at = files_.ContentsOf(kSegment).size();
  Store("a", 2, 1);
  Store("b", 2, 1);
  files_.FlipBit(kSegment, at + 40, 3);
  const std::map<std::string, Seen> seen = SeenOn(DiskNow());
  EXPECT_TRUE(seen.at("a").is_damaged);
  EXPECT_EQ(seen.at("b").entries.size(), 2u);
  EXPECT_TRUE(seen.at("c").is_damaged) << "nothing shows that it lost nothing";
}

TEST_F(SharedLogDamageTest, LaterRecordShowsThatAnEarlierOneIsLost) {
  Open();
  Store("a", 1, 1);
  const size_t at = files_.ContentsOf(kSegment).size();
  Store("a", 2, 1);
  Store("a", 3, 1);
  Store("b", 1, 1);
  files_.FlipBit(kSegment, at + 40, 3);
  EXPECT_TRUE(SeenOn(DiskNow()).at("a").is_damaged);
}

TEST_F(SharedLogDamageTest, EntriesThatALostRecordReplacedAreNotTaken) {
  Open();
  Store("a", 1, 3);
  const size_t at = files_.ContentsOf(kSegment).size();
  Store("a", 3, 1);  // another entry 3
  Store("a", 4, 1);
  files_.FlipBit(kSegment, at + 40, 3);
  EXPECT_TRUE(SeenOn(DiskNow()).at("a").is_damaged);
}

TEST_F(SharedLogDamageTest, LossOfWhatIsDroppedMeanwhileIsHarmless) {
  Open();
  const size_t first = files_.ContentsOf(kSegment).size();
  Store("a", 1, 1);
  const size_t second = files_.ContentsOf(kSegment).size();
  Store("a", 2, 2);
  Store("a", 4, 1, /*kept=*/4);
  files_.FlipBit(kSegment, second + 60, 0);
  EXPECT_EQ(SeenOn(DiskNow()).at("a").entries.size(), 1u);
  files_.FlipBit(kSegment, second + 60, 0);
  files_.FlipBit(kSegment, first + 60, 0);
  EXPECT_TRUE(SeenOn(DiskNow()).at("a").is_damaged) << "its name is lost";
}

TEST_F(SharedLogDamageTest, DamageStaysUntilTheLogIsRestarted) {
  Open();
  Store("a", 1, 1);
  Store("b", 1, 1);
  Store("a", 2, 1);
  ASSERT_TRUE(log_->SyncMark().ok());
  files_.FlipBit(kSegment, files_.ContentsOf(kSegment).size() - 3, 1);
  Open();
  EXPECT_FALSE(log_->statistics().damage.empty());
  EXPECT_TRUE(SeenOf(*log_, "a").is_damaged);
  EXPECT_TRUE(SeenOf(*log_, "b").is_damaged);
  Open();
  EXPECT_TRUE(SeenOf(*log_, "a").is_damaged) << "it is remembered";
  PartitionChange restart;
  restart.partition = log_->Attach("a").partition;
  restart.is_restart = true;
  restart.state = "forgotten";
  ASSERT_TRUE(log_->Commit({restart}).ok());
  EXPECT_FALSE(SeenOf(*log_, "a").is_damaged);
  Open();
  EXPECT_EQ(SeenOf(*log_, "a").state, "forgotten");
  EXPECT_TRUE(SeenOf(*log_, "a").entries.empty());
  EXPECT_TRUE(SeenOf(*log_, "b").is_damaged);
}

TEST_F(SharedLogDamageTest, UnreadablePlaceDamagesThePartitionsThatItMayBeOf) {
  Open();
  for (int i = 0; i < 20; ++i) Store("a", 1 + static_cast<Lsn>(i), 1, 1);
  const Disk disk = DiskNow();
  const std::string newest = std::prev(disk.find(kMark))->first;
  ASSERT_NE(newest, kSegment);
  Store("b", 1, 1);
  log_.reset();
  files_.MakeUnreadable(kSegment, 100, 10);
  Open();
  EXPECT_FALSE(log_->statistics().damage.empty());
  EXPECT_TRUE(SeenOf(*log_, "a").is_damaged);
  EXPECT_FALSE(SeenOf(*log_, "b").is_damaged) << "it is in another segment";
}

TEST_F(SharedLogDamageTest, EndThatCannotBeReadIsMissedWithoutAMarkToo) {
  Open();
  Store("a", 1, 2);
  log_.reset();
  files_.MakeUnreadable(kSegment, files_.ContentsOf(kSegment).size() - 1, 1);
  files_.MakeUnreadable(kMark, 0, files_.ContentsOf(kMark).size());
  Open();
  EXPECT_FALSE(log_->statistics().damage.empty());
  EXPECT_TRUE(SeenOf(*log_, "a").is_damaged) << "its votes and entries may be lost";
}

TEST_F(SharedLogDamageTest, EntryThatDecaysWhileTheLogIsOpenIsNotCopiedOn) {
  Open();
  Store("a", 1, 1);
  const std::string contents = files_.ContentsOf(kSegment);
  files_.FlipBit(kSegment, contents.size() - 1, 0);
  for (Lsn i = 1; i < 300; ++i) Store("b", i, 1, i);
  const SharedLog::Found found = log_->Attach("a");
  EXPECT_EQ(found.damage.code(), StatusCode::kDataLoss);
  EXPECT_EQ(log_->Read(found.partition, 1, 1, 1).status().code(), StatusCode::kDataLoss);
  Open();
  EXPECT_TRUE(SeenOf(*log_, "a").is_damaged);
  EXPECT_FALSE(SeenOf(*log_, "b").is_damaged);
}

}  // namespace
}  // namespace neptune
