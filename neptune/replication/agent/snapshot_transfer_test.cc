// A member's data on their way to another member: SnapshotSender and ReplicaRestore together.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/disk_room.h"
#include "neptune/base/strings.h"
#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/agent/replica_restore.h"
#include "neptune/replication/agent/snapshot_places.h"
#include "neptune/replication/agent/snapshot_sender.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using Contents = std::map<std::string, std::string>;

constexpr size_t kValueSize = 10'000;
// A chunk has its own limit, one entry or value more, and its header.
constexpr size_t kChunkSizeMax = kSnapshotChunkSize + 3 * kValueSize;

// A log and data on the test's host. Each write puts its payload under a key of its number.
class Member {
 public:
  Member(SimWorld& world, LogCommitter& committer, const std::atomic<bool>& stopping,
         const std::string& name, bool is_ordered)
      : world_(world),
        name_(name),
        identity_{.cluster = "east",
                  .service = ServiceName(name),
                  .partition = PartitionId(0),
                  .node = NodeId("n"),
                  .is_ordered = is_ordered},
        device_(nullptr, ServiceName(name), PartitionId(0), stopping),
        log_(device_, committer, identity_),
        data_(device_, [this] { return OpenState(); }) {}

  void Open() {
    ASSERT_TRUE(log_.Open().ok());
    ASSERT_TRUE(data_.Open().ok());
    data_.BeginAfter(log_.found().base.lsn);
  }
  // Orders, stores and executes a write.
  void Write(size_t size = kValueSize) {
    const Lsn lsn = log_.last_lsn() + 1;
    const auto change = std::make_shared<LogChange>();
    change->entries.push_back(
        {.lsn = lsn,
         .epoch = identity_.is_ordered ? 3u : 0u,
         .kind = identity_.is_ordered ? EntryKind::kWrite : EntryKind::kCommutativeWrite,
         .origin = {identity_.is_ordered ? 0u : 11u, identity_.is_ordered ? 0u : lsn},
         .method = MethodName("Put"),
         .request_id = {7, lsn},
         .payload = std::string(size, static_cast<char>('a' + lsn % 26))});
    ASSERT_TRUE(log_.Store(change).ok());
    data_.Allow(lsn);
    const auto executed = data_.ExecuteSome(log_, nullptr);
    ASSERT_TRUE(executed.ok()) << executed.status();
  }
  Contents contents() const {
    Contents contents;
    const Status status = static_cast<const StoreState*>(data_.state())
                              ->view()
                              .Scan({}, [&](std::string_view key, std::string_view value) {
                                contents.emplace(key, value);
                                return true;
                              });
    EXPECT_TRUE(status.ok()) << status;
    return contents;
  }

  const std::string& name() const { return name_; }
  const ReplicaDevice& device() const { return device_; }
  ReplicaLog& log() { return log_; }
  ReplicaData& data() { return data_; }

 private:
  StatusOr<std::unique_ptr<ReplicatedState>> OpenState() {
    const WriteFunction put = [](const WriteContext& context, std::string_view request,
                                 std::string*) -> Status {
      context.changes.Put(StrCat("key", context.lsn % 1000), request);
      return OkStatus();
    };
    NEPTUNE_ASSIGN_OR_RETURN(auto store, world_.storage().Open(StrCat("data-", name_)));
    NEPTUNE_ASSIGN_OR_RETURN(
        std::unique_ptr<ReplicatedState> state,
        StoreState::Open(std::move(store), {.writes = {{MethodName("Put"), put}}}));
    return state;
  }

  SimWorld& world_;
  const std::string name_;
  const LogIdentity identity_;
  const ReplicaDevice device_;
  ReplicaLog log_;
  ReplicaData data_;
};

class SnapshotTransferTest : public testing::Test {
 protected:
  SnapshotTransferTest() : loop_(**world_.StartLoop({.name = "main"})) {
    loop_.Post([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
    simulator_.RunFor(Duration(1));
  }
  ~SnapshotTransferTest() override {
    stopping_ = true;
    if (storer_ != nullptr) storer_->Wake();
    simulator_.RunFor(std::chrono::seconds(1));
    loop_.Post([this] { threads_->Stop(); });
    simulator_.RunFor(Duration(1));
  }

  void Make(bool is_ordered = true) {
    committer_ = std::make_unique<LogCommitter>(world_.storage(), 1);
    from_ = std::make_unique<Member>(world_, *committer_, stopping_, "from", is_ordered);
    to_ = std::make_unique<Member>(world_, *committer_, stopping_, "to", is_ordered);
    Run([this] {
      from_->Open();
      to_->Open();
    });
    MakeSender(is_ordered);
    LogStorer::Hooks hooks;
    hooks.on_stored = [](uint64_t, Duration) {};
    hooks.send = [](const OutgoingMessage&) {};
    hooks.restore = [](MemberIndex) {};
    hooks.on_dropped = [](Lsn) {};
    hooks.on_failure = [this](const Status&) { stopping_ = true; };
    storer_ = std::make_unique<LogStorer>(to_->log(), stopping_, hooks);
    loop_.Post([this] { ASSERT_TRUE(threads_->Spawn([this] { storer_->Run(); }).ok()); });
    MakeRestore(is_ordered);
  }
  void MakeSender(bool is_ordered = true) {
    SnapshotSender::Hooks hooks;
    hooks.mark = [this, is_ordered](Lsn last) -> StatusOr<SnapshotMark> {
      SnapshotMark mark{.base = {last, is_ordered ? 3u : 0u}, .write_set = {}, .log = {}};
      const Lsn base = from_->log().first_lsn() - 1;
      if (!is_ordered) mark.log = LogCopy{.base = base, .counts = {{11, base}}, .entries = {}};
      return mark;
    };
    hooks.disk = &disk_;
    sender_ = std::make_unique<SnapshotSender>(from_->device(), from_->log(), from_->data(),
                                               is_ordered, std::move(hooks));
  }
  void MakeRestore(bool is_ordered) {
    ReplicaRestore::Hooks hooks;
    hooks.fetch = [this](MemberIndex, const SnapshotPull& pull) { return Fetch(pull); };
    hooks.leave = [this](MemberIndex, uint64_t token) { Leave(token); };
    hooks.take_place = [this] { return places_.Take("restores"); };
    hooks.prepare = [this](Lsn data_end) {
      return data_end < least_data_end_ ? Unavailable("too old") : OkStatus();
    };
    hooks.handle = [this](ProtocolEvent event) { Handle(std::move(event)); };
    hooks.fail_writes = [](std::optional<Lsn>) {};
    hooks.on_begin = [this] { ++begin_count_; };
    hooks.on_result = [this](const Status& status) { result_ = status; };
    hooks.on_failure = [this](const Status& status) { failure_ = status; };
    restore_ = std::make_unique<ReplicaRestore>(
        ReplicaRestore::Parts{to_->device(), to_->data(), *storer_, world_.storage()}, "spool",
        is_ordered, stopping_, std::move(hooks));
  }

  // A segment of the log, which only the receiver writes during a restore.
  static bool IsLog(std::string_view name) {
    return !name.starts_with("data-") && name != "spool" && !name.ends_with("-mark");
  }

  // The protocol: restarts the log where the snapshot ends.
  void Handle(ProtocolEvent event) {
    ProtocolActions actions;
    if (auto* const restored = std::get_if<DataRestored>(&event); restored && !is_level_one_) {
      actions.change.restart = LogChange::Restart{restored->mark.base, restored->mark.write_set};
    } else if (auto* const replaced = std::get_if<LogReplaced>(&event)) {
      actions.change.restart = LogChange::Restart{{replaced->log.base, 0}, MemberSet()};
      is_level_one_ = true;
    } else if (auto* const extended = std::get_if<LogExtended>(&event)) {
      actions.change.entries = std::move(extended->entries);
    }
    if (actions.change.empty()) return;
    actions.change_number = ++change_number_;
    storer_->Push(std::move(actions));
  }

  // Carries a pull to the sender and its answer back, as `carry_` allows.
  StatusOr<SnapshotChunk> Fetch(const SnapshotPull& pull) {
    ++pull_count_;
    if (on_pull_) on_pull_();
    NEPTUNE_RETURN_IF_ERROR(CarryTo());
    NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, sender_->Pull(pull));
    largest_ = std::max(largest_, bytes.size());
    NEPTUNE_RETURN_IF_ERROR(CarryBack());
    return DecodeSnapshotChunk(bytes);
  }
  void Leave(uint64_t token) {
    loop_.Post([this, token] {
      const auto leave = [this, token] {
        if (leaves_are_lost_) return;
        (void)sender_->Pull({.token = token, .is_over = true});
      };
      ASSERT_TRUE(threads_->Spawn(leave).ok());
    });
  }
  Status CarryTo() {
    return lost_one_in_ > 0 && random_.Below(lost_one_in_) == 0 ? Unavailable("lost") : OkStatus();
  }
  Status CarryBack() { return CarryTo(); }

  bool RunRestore(Duration limit = std::chrono::minutes(10)) {
    bool is_over = false;
    loop_.Post([&] {
      ASSERT_TRUE(threads_
                      ->Spawn([&] {
                        ASSERT_TRUE(restore_->Want(0));
                        (void)restore_->Run();
                        is_over = true;
                      })
                      .ok());
    });
    const bool ended = simulator_.RunUntilTrue([&] { return is_over; }, simulator_.now() + limit);
    simulator_.RunFor(std::chrono::milliseconds(1));  // the sender hears of the end
    return ended;
  }
  void Run(const std::function<void()>& body) {
    bool is_over = false;
    loop_.Post([&] {
      ASSERT_TRUE(threads_
                      ->Spawn([&] {
                        body();
                        is_over = true;
                      })
                      .ok());
    });
    EXPECT_TRUE(simulator_.RunUntilTrue([&] { return is_over; },
                                        simulator_.now() + std::chrono::minutes(1)));
  }
  void WriteMany(int count) {
    Run([&] {
      for (int i = 0; i < count; ++i) from_->Write();
    });
  }

  Simulator simulator_{1};
  SimWorld& world_ = simulator_.AddHost({.name = "n"});
  Loop& loop_;
  std::unique_ptr<LogCommitter> committer_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::atomic<bool> stopping_{false};
  RandomSource random_{5};
  std::unique_ptr<Member> from_, to_;
  SnapshotPlaces places_{1};
  Lsn least_data_end_ = 0;
  bool leaves_are_lost_ = false;
  DiskRoom disk_{1000};
  std::unique_ptr<SnapshotSender> sender_;
  std::unique_ptr<LogStorer> storer_;
  std::unique_ptr<ReplicaRestore> restore_;
  bool is_level_one_ = false;
  uint64_t change_number_ = 0;
  std::function<void()> on_pull_;
  uint64_t lost_one_in_ = 0;  // 0: no pull or answer is lost
  int pull_count_ = 0;
  int begin_count_ = 0;
  size_t largest_ = 0;
  Status result_ = Internal("no restore");
  Status failure_;
};

TEST_F(SnapshotTransferTest, DataOfManyChunksArriveChunkByChunk) {
  Make();
  WriteMany(800);
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(to_->data().executed(), 800u);
  EXPECT_EQ(to_->data().state()->completed(), 800u);
  EXPECT_EQ(to_->log().first_lsn(), 801u);
  EXPECT_GE(pull_count_, 8);
  EXPECT_LE(largest_, kChunkSizeMax);
  EXPECT_EQ(sender_->totals().finished, 1u);
  EXPECT_EQ(sender_->totals().active, 0);
  const ReplicaRestore::Progress progress = restore_->progress();
  EXPECT_EQ(progress.taken_count, 1u);
  EXPECT_EQ(progress.chunk_count, static_cast<uint64_t>(pull_count_));
  EXPECT_GT(progress.taken_size, 800 * kValueSize);
  EXPECT_FALSE(progress.since.has_value());
}

TEST_F(SnapshotTransferTest, WritesThatComeMeanwhileAreInTheRestoredData) {
  Make();
  WriteMany(500);
  on_pull_ = [this] {
    for (int i = 0; i < 20 && from_->log().last_lsn() < 1200; ++i) from_->Write();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(to_->data().executed(), from_->data().executed());
  EXPECT_GT(to_->data().executed(), 600u);
  EXPECT_LE(largest_, kChunkSizeMax);
  EXPECT_EQ(world_.storage().List()->size(), 2u) << "the spool is removed";
  // An answer to a write that came meanwhile is remembered.
  Run([this] {
    LogEntry again{.lsn = 5000, .method = MethodName("Put"), .request_id = {7, 550}, .payload = ""};
    ASSERT_TRUE(to_->data().state() != nullptr);
    again.lsn = to_->data().executed() + 1;
    const auto change = std::make_shared<LogChange>();
    change->entries = {again};
    ASSERT_TRUE(to_->log().Store(change).ok());
    to_->data().Allow(again.lsn);
    ASSERT_TRUE(to_->data().ExecuteSome(to_->log(), nullptr).ok());
  });
  EXPECT_EQ(to_->contents(), from_->contents()) << "it is not executed again";
}

// The log is dropped as far as the transfer allows, whatever its members need.
TEST_F(SnapshotTransferTest, LogIsPinnedOnlyForWhatTheNextChunkCarries) {
  Make();
  WriteMany(1500);  // 15 chunks
  size_t log_size_max = 0;
  int write_count = 0;
  on_pull_ = [this, &log_size_max, &write_count] {
    for (int i = 0; i < 50 && write_count < 700; ++i, ++write_count) from_->Write();
    log_size_max = std::max(log_size_max, from_->log().size());
    const Lsn last = std::min(from_->data().executed(), sender_->PinnedAfter());
    ASSERT_TRUE(from_->log().DropBefore(last + 1).ok());
  };
  Run([this] { ASSERT_TRUE(from_->log().DropBefore(1501).ok()); });
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 1);
  EXPECT_EQ(write_count, 700) << "7 MB of writes during the transfer";
  EXPECT_LE(log_size_max, 2 * kSnapshotChunkSize);
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_NE(sender_->PinnedAfter(), SnapshotSender::kNoPin) << "until the receiver is sent more";
  simulator_.RunFor(std::chrono::seconds(3));
  Run([this] { sender_->Close(sender_->TakeExpired(this_thread::Now())); });
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotTransferTest, LostPullsAndAnswersAreRepeatedInTheSameTransfer) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    random_ = RandomSource(seed);
    if (seed == 1) {
      Make();
      WriteMany(800);
    }
    lost_one_in_ = 0;
    int count = 0;
    on_pull_ = [this, &count] {
      if (++count > 1) lost_one_in_ = 3;
      if (count < 6) from_->Write();
    };
    ASSERT_TRUE(RunRestore());
    ASSERT_TRUE(result_.ok()) << result_;
    EXPECT_EQ(to_->contents(), from_->contents());
    EXPECT_EQ(begin_count_, static_cast<int>(seed)) << "none began again";
  }
}

TEST_F(SnapshotTransferTest, CutOffReceiverGoesOnWhereItWas) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    if (pull_count_ != 5) return;
    lost_one_in_ = 1;
    loop_.RunAt(loop_.Now() + std::chrono::seconds(20), [this] { lost_one_in_ = 0; });
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(restore_->progress().chunk_count, 11u) << "of one transfer";
}

TEST_F(SnapshotTransferTest, SenderThatHasForgottenTheTransferIsAskedForAnother) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    if (pull_count_ == 6) MakeSender();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(begin_count_, 1) << "the data were gone already";
  EXPECT_EQ(restore_->progress().taken_count, 1u);
}

TEST_F(SnapshotTransferTest, LogThatCouldNotWaitEndsTheTransferAndTheNextOneSucceeds) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    from_->Write();
    if (pull_count_ != 4) return;
    from_->Write();
    ASSERT_TRUE(from_->log().DropBefore(from_->data().executed() + 1).ok());
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_GT(pull_count_, 13);
}

TEST_F(SnapshotTransferTest, RefusedRestoreLeavesTheDataAsTheyAre) {
  Make();
  WriteMany(100);
  Run([this] { to_->Write(); });
  const Contents before = to_->contents();
  lost_one_in_ = 1;
  ASSERT_TRUE(RunRestore());
  EXPECT_EQ(result_.code(), StatusCode::kUnavailable);
  EXPECT_EQ(begin_count_, 0);
  EXPECT_EQ(to_->contents(), before);
  EXPECT_EQ(to_->data().executed(), 1u);
}

TEST_F(SnapshotTransferTest, MemberThatHasEverythingAlreadyKeepsItsData) {
  Make();
  WriteMany(3);
  Run([this] {
    for (int i = 0; i < 5; ++i) to_->Write();
  });
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 0);
  EXPECT_EQ(to_->data().executed(), 5u);
  EXPECT_EQ(sender_->totals().active, 0) << "the sender knows";
  EXPECT_EQ(sender_->totals().finished, 0u);
}

TEST_F(SnapshotTransferTest, ReceiverThatIsGoneHoldsWhatItHasForAMinute) {
  Make();
  WriteMany(300);
  const SnapshotPull first = {.receiver = NodeId("gone")};
  Run([&] { ASSERT_TRUE(sender_->Pull(first).ok()); });
  EXPECT_EQ(sender_->totals().active, 1);
  EXPECT_EQ(sender_->PinnedAfter(), 300u);
  simulator_.RunFor(kSnapshotIdleMax - std::chrono::seconds(1));
  Run([this] { EXPECT_TRUE(sender_->TakeExpired(this_thread::Now()).empty()); });
  simulator_.RunFor(std::chrono::seconds(2));
  Run([this] { sender_->Close(sender_->TakeExpired(this_thread::Now())); });
  EXPECT_EQ(sender_->totals().active, 0);
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotTransferTest, ReceiverThatBeginsAgainGivesUpItsFirstTransfer) {
  Make();
  WriteMany(300);
  Run([this] {
    const SnapshotPull begin = {.receiver = NodeId("n2")};
    const auto first = DecodeSnapshotChunk(*sender_->Pull(begin));
    ASSERT_TRUE(sender_->Pull({.receiver = NodeId("n3")}).ok());
    ASSERT_TRUE(sender_->Pull(begin).ok());
    EXPECT_EQ(sender_->totals().active, 2);
    EXPECT_EQ(sender_->Pull({.receiver = NodeId("n2"), .token = first->token, .index = 1})
                  .status()
                  .code(),
              StatusCode::kNotFound);
  });
}

TEST_F(SnapshotTransferTest, LogOfLevelOneIsStoredBeforeItsDataCount) {
  Make(/*is_ordered=*/false);
  WriteMany(600);
  Run([this] { ASSERT_TRUE(from_->log().DropBefore(101).ok()); });
  on_pull_ = [this] {
    if (from_->log().last_lsn() < 700) from_->Write();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->log().first_lsn(), 101u);
  EXPECT_EQ(to_->log().last_lsn(), from_->log().last_lsn());
  EXPECT_EQ(to_->data().executed(), 601u) << "the end of the pieces";
  Run([this] {
    to_->data().Allow(to_->log().last_lsn());
    while (to_->data().executed() < to_->log().last_lsn()) {
      ASSERT_TRUE(to_->data().ExecuteSome(to_->log(), nullptr).ok());
    }
  });
  EXPECT_EQ(to_->contents(), from_->contents());
}

// Notes the order of the synced writes at the end of a restore.
TEST_F(SnapshotTransferTest, DataAreMadeDurableOnlyAfterTheirLog) {
  for (const bool is_ordered : {true, false}) {
    Make(is_ordered);
    WriteMany(50);
    std::vector<std::string> synced;
    world_.sim_storage().Intercept([&](std::string_view store, WriteMode mode) {
      const bool is_receivers = store == "data-to" || IsLog(store);
      if (mode == WriteMode::kSynced && is_receivers) {
        synced.emplace_back(IsLog(store) ? "log" : store);
      }
      return OkStatus();
    });
    ASSERT_TRUE(RunRestore());
    ASSERT_TRUE(result_.ok()) << result_;
    world_.sim_storage().Intercept(nullptr);
    ASSERT_GE(synced.size(), 3u);
    EXPECT_EQ(synced.front(), "data-to") << "the mark of the restore";
    EXPECT_EQ(synced.back(), "data-to");
    for (size_t i = 1; i + 1 < synced.size(); ++i) EXPECT_EQ(synced[i], "log") << i;
    stopping_ = true;
    storer_->Wake();
    simulator_.RunFor(std::chrono::seconds(1));
    stopping_ = false;
    restore_.reset();
    storer_.reset();
    sender_.reset();
    from_.reset();
    to_.reset();
    committer_.reset();
    const auto names = world_.storage().List();
    for (const std::string& name : *names) {
      ASSERT_TRUE(world_.storage().Destroy(name).ok());
    }
    for (const std::string& name : world_.sim_storage().log_files().Names()) {
      ASSERT_TRUE(world_.storage().log_files().Remove(name).ok());
    }
  }
}

TEST_F(SnapshotTransferTest, DataDoNotCountIfTheirLogCannotBeStored) {
  Make();
  WriteMany(50);
  world_.sim_storage().Intercept([&](std::string_view store, WriteMode) {
    return IsLog(store) ? Unavailable("the disk refuses") : OkStatus();
  });
  ASSERT_TRUE(RunRestore());
  EXPECT_EQ(result_.code(), StatusCode::kCancelled) << result_;
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(to_->data().state()->completed(), 0u);
  world_.sim_storage().EndProcess();
  stopping_ = false;
  LogCommitter of_new_process(world_.storage(), 1);
  Member again(world_, of_new_process, stopping_, "to", /*is_ordered=*/true);
  Run([&] { again.Open(); });
  EXPECT_EQ(again.data().state()->completed(), 0u) << "data ahead of their log";
  EXPECT_TRUE(again.contents().empty());
}

TEST_F(SnapshotTransferTest, FailureOfTheReceiversDiskEndsTheRestore) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ != 3) return;
    world_.sim_storage().Intercept([](std::string_view store, WriteMode) {
      return store == "data-to" ? ResourceExhausted("no space left") : OkStatus();
    });
  };
  ASSERT_TRUE(RunRestore());
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(failure_.code(), StatusCode::kResourceExhausted) << failure_;
  EXPECT_EQ(to_->data().state()->completed(), 0u);
}

TEST_F(SnapshotTransferTest, DamageOfTheReceiversDiskEndsTheRestore) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ != 3) return;
    world_.sim_storage().Intercept([](std::string_view store, WriteMode) {
      return store == "data-to" ? DataLoss("a file is damaged") : OkStatus();
    });
  };
  ASSERT_TRUE(RunRestore(std::chrono::minutes(1))) << "it would be repeated endlessly";
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(failure_.code(), StatusCode::kDataLoss) << failure_;
  EXPECT_TRUE(to_->data().is_damaged()) << "they are destroyed when the replica is opened again";
}

TEST_F(SnapshotTransferTest, MemberThatWaitsForASenderHasNoPlaceMeanwhile) {
  Make();
  WriteMany(400);
  std::vector<bool> was_free;
  on_pull_ = [this, &was_free] {
    was_free.push_back(places_.Take("restores").ok());
    if (pull_count_ < 3 || pull_count_ > 9) return;
    lost_one_in_ = 1;
    loop_.RunAt(loop_.Now() + std::chrono::minutes(2), [this] { lost_one_in_ = 0; });
  };
  bool was_free_once = false;
  for (int i = 1; i < 60; ++i) {
    loop_.RunAt(loop_.Now() + std::chrono::seconds(i),
                [&] { was_free_once |= places_.Take("restores").ok(); });
  }
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 1);
  EXPECT_TRUE(was_free_once);
  for (size_t i = 0; i < was_free.size(); ++i) EXPECT_FALSE(was_free[i]) << "pull " << i;
  EXPECT_EQ(to_->contents(), from_->contents());
}

TEST_F(SnapshotTransferTest, SenderThatIsTooOldIsRefusedAlsoAfterTheDataAreGone) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ == 3) {
      MakeSender();
      least_data_end_ = 401;
    }
    if (pull_count_ == 6) {
      from_->Write();
      least_data_end_ = 401;
    }
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->data().executed(), 401u);
  EXPECT_EQ(to_->contents(), from_->contents());
}

TEST_F(SnapshotTransferTest, SenderThatDoesNotAnswerAnyMoreHoldsNothingUp) {
  Make();
  WriteMany(100);
  leaves_are_lost_ = true;
  const TimePoint began_at = simulator_.now();
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_LT(simulator_.now() - began_at, std::chrono::seconds(1));
  EXPECT_EQ(sender_->totals().active, 1) << "until it is idle for too long";
}

TEST_F(SnapshotTransferTest, TransferThatWasGivenUpIsLetGoAtOnce) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ != 3) return;
    world_.sim_storage().Intercept([](std::string_view store, WriteMode) {
      return store == "data-to" ? ResourceExhausted("no space left") : OkStatus();
    });
  };
  ASSERT_TRUE(RunRestore());
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(sender_->totals().active, 0);
  EXPECT_EQ(sender_->totals().finished, 0u);
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotTransferTest, ViewsAreLetGoWhileTheSendersDiskIsAlmostFull) {
  Make();
  WriteMany(300);
  Run([this] {
    ASSERT_TRUE(sender_->Pull({.receiver = NodeId("n2")}).ok());
    disk_.Update({.total = 100'000, .free = 900});
    EXPECT_TRUE(sender_->TakeExpired(this_thread::Now()).empty()) << "writes are refused first";
    const StatusOr<std::string> refused = sender_->Pull({.receiver = NodeId("n3")});
    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    disk_.Update({.total = 100'000, .free = 100});
    sender_->Close(sender_->TakeExpired(this_thread::Now()));
    EXPECT_EQ(sender_->totals().active, 0);
    disk_.Update({.total = 100'000, .free = 90'000});
    EXPECT_TRUE(sender_->Pull({.receiver = NodeId("n3")}).ok());
  });
}

}  // namespace
}  // namespace neptune
