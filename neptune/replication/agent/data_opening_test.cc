#include "neptune/replication/agent/data_opening.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/thread/simulated_threads.h"

namespace neptune {
namespace {

LogEntry Put(Lsn lsn) {
  return {.lsn = lsn, .epoch = 3, .method = MethodName("Put"), .payload = "v"};
}

// The log and the data of a replica on a simulated host, stored by its last life. Write n has put
// the key "n".
class DataOpeningTest : public SimulatedThreads {
 protected:
  DataOpeningTest() { MakeLog(); }
  ~DataOpeningTest() override { StopThreads(); }

  // A new process has opened nothing yet.
  void MakeLog() {
    log_.reset();
    committer_ = std::make_unique<LogCommitter>(world_.storage(), 1);
    log_ = std::make_unique<ReplicaLog>(device_, *committer_, identity_);
  }
  // Stores a log of the writes after `base` up to `last`, and the data up to `completed`.
  void StoreLife(Lsn base, Lsn last, Lsn completed) {
    Run([&] {
      ASSERT_TRUE(log_->Open().ok());
      const auto change = std::make_shared<LogChange>();
      if (base > 0) {
        change->restart = LogChange::Restart{.base = {base, 3}, .write_set = MemberSet(3)};
      }
      for (Lsn lsn = base + 1; lsn <= last; ++lsn) change->entries.push_back(Put(lsn));
      ASSERT_TRUE(log_->Store(change).ok());
      const auto state = OpenState();
      ASSERT_TRUE(state.ok()) << state.status();
      for (Lsn lsn = 1; lsn <= completed; ++lsn) ASSERT_TRUE((*state)->Apply(Put(lsn)).ok());
    });
  }
  StatusOr<std::unique_ptr<ReplicatedState>> OpenState() {
    const WriteFunction put = [](const WriteContext& context, std::string_view, std::string*) {
      context.changes.Put(std::to_string(context.lsn), "v");
      return OkStatus();
    };
    NEPTUNE_ASSIGN_OR_RETURN(auto store, world_.storage().Open("data"));
    NEPTUNE_ASSIGN_OR_RETURN(
        std::unique_ptr<ReplicatedState> state,
        StoreState::Open(std::move(store), {.writes = {{MethodName("Put"), put}}}));
    return state;
  }
  DataOpening::Traits Group(int size) {
    DataOpening::Traits traits;
    traits.group.members.resize(static_cast<size_t>(size));
    traits.name = "forum/2";
    return traits;
  }
  // Opens log and data as the next life does.
  Status Open(DataOpening::Traits traits, bool are_damaged = false) {
    Status opened;
    Run([&] {
      opened = log_->Open();
      DataOpening opening(std::move(traits), *log_, data_);
      if (opened.ok()) opened = opening.Open(are_damaged);
      repair_ = opening.repair();
      damage_ = opening.damage();
    });
    return opened;
  }
  // Inverts a bit in the middle of the segment, where entries are. A new process then opens it.
  void DamageLog() {
    log_->Close();
    SimLogFiles& files = disk().log_files();
    std::string segment;
    for (const std::string& name : files.Names()) {
      if (!name.ends_with("-mark")) segment = name;
    }
    files.FlipBit(segment, files.ContentsOf(segment).size() / 2, 3);
    disk().EndProcess();
    MakeLog();
  }
  Lsn completed() const { return data_.state()->completed(); }
  SimStorage& disk() { return world_.sim_storage(); }

  std::atomic<bool> stopping_{false};
  const ReplicaDevice device_{nullptr, ServiceName("forum"), PartitionId(2), stopping_};
  const LogIdentity identity_ = {.cluster = "east",
                                 .service = ServiceName("forum"),
                                 .partition = PartitionId(2),
                                 .node = NodeId("n")};
  std::unique_ptr<LogCommitter> committer_;
  std::unique_ptr<ReplicaLog> log_;
  ReplicaData data_{device_, [this] { return OpenState(); },
                    [this] { return world_.storage().Destroy("data"); }};
  Status repair_;
  Status damage_;
};

TEST_F(DataOpeningTest, OpensSoundData) {
  StoreLife(2, 5, 4);
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_TRUE(repair_.ok());
  EXPECT_EQ(completed(), 4u);
}

TEST_F(DataOpeningTest, EmptiesDamagedDataOfWhichTheLogHasEverything) {
  StoreLife(0, 5, 4);
  ASSERT_TRUE(disk().DamageStore("data").ok());
  EXPECT_TRUE(Open(Group(1)).ok());
  EXPECT_TRUE(repair_.ok());
  EXPECT_EQ(completed(), 0u);
  EXPECT_EQ(log_->last_lsn(), 5u);
  EXPECT_FALSE(data_.is_damaged());
}

TEST_F(DataOpeningTest, KeepsTheLogOfDamagedDataThatOthersHave) {
  StoreLife(2, 5, 4);
  ASSERT_TRUE(disk().DamageStore("data").ok());
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_EQ(repair_.code(), StatusCode::kDataLoss);
  EXPECT_FALSE(data_.exists());
  EXPECT_TRUE(data_.is_damaged());
  EXPECT_EQ(log_->last_lsn(), 5u);
}

// The old data are only given up once others have arrived.
TEST_F(DataOpeningTest, DestroysNoDataThatAreToBeRepaired) {
  StoreLife(2, 5, 4);
  EXPECT_TRUE(Open(Group(3), /*are_damaged=*/true).ok());
  EXPECT_EQ(repair_.code(), StatusCode::kDataLoss);
  const auto state = OpenState();
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ((*state)->completed(), 4u);
}

TEST_F(DataOpeningTest, RepairsDataThatEndBeforeTheLogBegins) {
  StoreLife(4, 6, 2);
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_EQ(repair_.code(), StatusCode::kDataLoss);
  EXPECT_FALSE(data_.exists());
}

TEST_F(DataOpeningTest, RefusesDamageThatNoOtherMemberCanRepair) {
  StoreLife(2, 5, 4);
  ASSERT_TRUE(disk().DamageStore("data").ok());
  EXPECT_EQ(Open(Group(1)).code(), StatusCode::kDataLoss);
  DataOpening::Traits with_witness = Group(2);
  with_witness.group.members[1].is_witness = true;
  EXPECT_EQ(Open(with_witness).code(), StatusCode::kDataLoss);
  EXPECT_EQ(world_.storage().List()->size(), 1u) << "nothing is destroyed";
  EXPECT_EQ(log_->last_lsn(), 5u);
}

TEST_F(DataOpeningTest, OpensTheOnlyDataIfAllOfThemCanBeReadAfterAll) {
  StoreLife(2, 5, 4);
  EXPECT_TRUE(Open(Group(1), /*are_damaged=*/true).ok());
  EXPECT_EQ(completed(), 4u);
}

TEST_F(DataOpeningTest, RefusesTheOnlyDataIfTheyAreStillDamaged) {
  StoreLife(2, 5, 4);
  ASSERT_TRUE(disk().DamageValue("data", "u3").ok());
  EXPECT_EQ(Open(Group(1), /*are_damaged=*/true).code(), StatusCode::kDataLoss);
}

TEST_F(DataOpeningTest, BeginsLikeANewDiskIfItCannotRepair) {
  StoreLife(2, 5, 4);
  ASSERT_TRUE(disk().DamageStore("data").ok());
  DataOpening::Traits traits = Group(3);
  traits.can_repair = false;
  EXPECT_TRUE(Open(traits).ok());
  EXPECT_TRUE(repair_.ok());
  EXPECT_EQ(completed(), 0u);
  EXPECT_EQ(log_->last_lsn(), 0u);
}

TEST_F(DataOpeningTest, BeginsLikeANewDiskIfUnorderedDataEndAfterTheLog) {
  StoreLife(0, 2, 4);
  DataOpening::Traits traits = Group(3);
  traits.is_ordered = false;
  traits.can_repair = false;
  EXPECT_TRUE(Open(traits).ok());
  EXPECT_TRUE(data_.is_distrusted()) << "they are kept until others replace them";
  EXPECT_EQ(log_->last_lsn(), 0u);
}

TEST_F(DataOpeningTest, ForgetsADamagedLogAndDistrustsTheData) {
  StoreLife(2, 5, 4);
  DamageLog();
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_EQ(damage_.code(), StatusCode::kDataLoss);
  EXPECT_TRUE(repair_.ok());
  EXPECT_TRUE(data_.is_distrusted());
  EXPECT_EQ(completed(), 4u) << "an operator may need them";
  EXPECT_EQ(log_->last_lsn(), 0u);
  // It stays so until the others have answered.
  data_.Close();
  log_->Close();
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_EQ(damage_.code(), StatusCode::kDataLoss) << "the data end after the log";
  EXPECT_TRUE(data_.is_distrusted());
}

TEST_F(DataOpeningTest, OnlyMemberForgetsNoDamagedLog) {
  StoreLife(0, 5, 4);
  DamageLog();
  for (const bool are_damaged : {false, true}) {
    EXPECT_EQ(Open(Group(1), are_damaged).code(), StatusCode::kDataLoss);
    EXPECT_EQ(log_->damage().code(), StatusCode::kDataLoss) << "it stays damaged";
  }
  EXPECT_EQ((*OpenState())->completed(), 4u);
}

TEST_F(DataOpeningTest, BeginsLikeANewDiskIfLogAndDataAreDamaged) {
  StoreLife(0, 5, 4);
  DamageLog();
  ASSERT_TRUE(disk().DamageStore("data").ok());
  DataOpening::Traits with_witness = Group(2);
  with_witness.group.members[1].is_witness = true;
  EXPECT_EQ(Open(with_witness).code(), StatusCode::kDataLoss);
  EXPECT_EQ(log_->damage().code(), StatusCode::kDataLoss) << "no other member has the data";
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_FALSE(data_.is_distrusted());
  EXPECT_EQ(completed(), 0u);
  EXPECT_EQ(log_->last_lsn(), 0u);
}

// An empty log beside damaged data does not have every write: it may be one that was forgotten.
TEST_F(DataOpeningTest, AForgottenLogIsNotExecutedInPlaceOfDamagedData) {
  StoreLife(0, 5, 4);
  DamageLog();
  EXPECT_TRUE(Open(Group(3)).ok());
  data_.Close();
  log_->Close();
  ASSERT_TRUE(disk().DamageStore("data").ok());
  DataOpening::Traits with_witness = Group(2);
  with_witness.group.members[1].is_witness = true;
  EXPECT_EQ(Open(with_witness).code(), StatusCode::kDataLoss);
  EXPECT_EQ(world_.storage().List()->size(), 1u) << "nothing is destroyed";
}

TEST_F(DataOpeningTest, WitnessForgetsADamagedLog) {
  StoreLife(0, 5, 0);
  DamageLog();
  DataOpening::Traits traits = Group(3);
  traits.has_data = false;
  EXPECT_TRUE(Open(traits).ok());
  EXPECT_EQ(damage_.code(), StatusCode::kDataLoss);
  EXPECT_FALSE(data_.is_distrusted());
  EXPECT_EQ(log_->last_lsn(), 0u);
}

TEST_F(DataOpeningTest, ReportsOtherErrorsAndDestroysNothing) {
  StoreLife(0, 5, 4);
  Run([this] { ASSERT_TRUE(log_->Open().ok()); });
  disk().FailReads(Unavailable("input/output error"));
  Status opened;
  Run([&] { opened = DataOpening(Group(3), *log_, data_).Open(false); });
  EXPECT_EQ(opened.code(), StatusCode::kUnavailable);
  disk().FailReads(OkStatus());
  EXPECT_TRUE(Open(Group(3)).ok());
  EXPECT_EQ(completed(), 4u);
}

}  // namespace
}  // namespace neptune
