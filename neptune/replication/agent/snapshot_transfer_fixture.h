// A member's data on their way to another member, for tests: SnapshotSender and ReplicaRestore on
// one simulated host, with everything between them under the test's control.
//
// Threads: those of the test.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/disk_room.h"
#include "neptune/base/memory_budget.h"
#include "neptune/base/strings.h"
#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/agent/replica_restore.h"
#include "neptune/replication/agent/snapshot_places.h"
#include "neptune/replication/agent/snapshot_sender.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

using TransferContents = std::map<std::string, std::string>;

inline constexpr size_t kValueSize = 10'000;
// A chunk has its own limit, one entry or value more, and its header.
inline constexpr size_t kChunkSizeMax = kSnapshotChunkSize + 3 * kValueSize;

// A log and data on the test's host. Each write puts its payload under a key of its number.
class TransferMember {
 public:
  TransferMember(SimWorld& world, LogCommitter& committer, const std::atomic<bool>& stopping,
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
  TransferContents contents() const {
    TransferContents contents;
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
    from_ = std::make_unique<TransferMember>(world_, *committer_, stopping_, "from", is_ordered);
    to_ = std::make_unique<TransferMember>(world_, *committer_, stopping_, "to", is_ordered);
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
    hooks.memory = budget_;
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
        ReplicaRestore::Parts{to_->device(), to_->data(), *storer_, world_.storage(), budget_},
        "spool", is_ordered, stopping_, std::move(hooks));
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
  std::unique_ptr<TransferMember> from_, to_;
  SnapshotPlaces places_{1};
  Lsn least_data_end_ = 0;
  bool leaves_are_lost_ = false;
  DiskRoom disk_{1000};
  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64u << 20);
  const std::shared_ptr<MemoryShare> others_ = MemoryShare::Of(budget_);
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

}  // namespace neptune
