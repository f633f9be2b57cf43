// One replica of a partition: its log, its data, and its protocol with the other members.
//
//   Receive, Write ─► protocol (control loop)
//                       ├─► pump thread: messages to members
//                       ├─► storing thread: log on a device, messages that wait for it
//                       └─► executor thread: log ─► data ─► outcomes to writers
//
// Entries are sent before they are stored here, and the next ones while these are being stored:
// changes that come meanwhile are stored together (group commit). A write that is submitted again
// while it is under way waits for the entry that it has. A failure of log or data ends the agent:
// the other members continue, and ReplicaKeeper opens the replica again with a new agent.
//
// Data that are damaged, or that end before the log begins, are replaced by another member's.
// Meanwhile the agent takes part with its log alone, as a witness does, so that what it has
// acknowledged stays safe; the old data are destroyed once the other member's arrive. A log that
// still has every write needs no other member: it is executed again. At level 1, and in fail-stop
// mode, the log is forgotten, damaged data are destroyed, and the member begins as with a new disk.
// Data that no other member has are never destroyed.
//
// Source: [Shen02] 5.2.
// Threads: Receive and Unreachable on the control loop; Write, PullSnapshot and Verify on a
//   user-level thread of any loop; the rest on any thread. Callers share its ownership, because
//   their calls may outlast its work.
// Units: times are TimePoint.
// Errors: Write: kFailedPrecondition this is not the primary; kUnavailable, kDeadlineExceeded,
//   kCancelled the outcome of the write is unknown, retry it under the same RequestId;
//   kResourceExhausted too many writes are in progress, or the disk is almost full.
// Limits: SafeReplicaOptions::uncommitted_count_max writes in progress, at `write_anywhere`
//   CommutativeReplicaOptions::unstored_count_max. Snapshots have any size; what each holds in
//   memory: snapshot_sender.h, restoration.h. The log exceeds log_size_max by at most a fifth, for
//   what snapshots under way and members that keep up still need. At level 1, while the log exceeds
//   log_size_max and other members need it, writes are refused (kResourceExhausted). While the disk
//   is almost full (DiskRoom), a replica orders no writes, and a primary hands over to one that
//   has room, if there is one; with still less room it takes no entries and no data of others, so
//   that a primary counts it out, until there is room again.

#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/disk_room.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/memory_budget.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/replication/agent/acceptance_clock.h"
#include "neptune/replication/agent/log_storer.h"
#include "neptune/replication/client/replica_extension.h"
#include "neptune/replication/log/log_identity.h"
#include "neptune/replication/protocol/protocol_message.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_snapshot.h"
#include "neptune/replication/protocol/replica_status.h"
#include "neptune/replication/state/replicated_state.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/service_module.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

class LogCommitter;
class PendingWrites;
class ReplicaBoard;
class ReplicaData;
class ReplicaDevice;
class ReplicaLog;
class ReplicaRestore;
class ReplicationProtocol;
class SnapshotSender;
struct PeerNews;
struct PendingWrite;
struct SnapshotChunk;
struct SnapshotPull;

// Protocol by which the members agree on an order.
enum class ReplicationMode : uint8_t {
  kSafe,      // safe/safe_replica.h
  kFailStop,  // fail_stop/fail_stop_replica.h: for the paper's figures; assumes fail-stop nodes
};

struct ReplicaAgentOptions {
  LogIdentity identity;
  ReplicaGroup group;
  ConsistencyLevel level = ConsistencyLevel::kOrderedWrites;
  // kStalenessBounded: maximum staleness of a read. Default: 1 s (5.4.1).
  Duration staleness_max = std::chrono::seconds(1);
  ReplicationMode mode = ReplicationMode::kSafe;
  // Number of executed entries that the log keeps for members that were away briefly. Larger: fewer
  // members need a snapshot, more disk. Default: 20,000.
  Lsn kept_count = 20'000;
  // The log also keeps what absent members need, up to this size. At level 1 it keeps them all, but
  // accepts no writes above this size. Default: 256 MiB.
  size_t log_size_max = 256u << 20;
  // The stored data are read back and checked once in this time; zero: never. Smaller: damage is
  // found sooner, more reads. Default: a day.
  Duration scrub_interval = std::chrono::hours(24);
};

class ReplicaAgent : public std::enable_shared_from_this<ReplicaAgent> {
 public:
  struct Hooks {
    NodeLoop* control = nullptr;
    NodeLoop* worker = nullptr;  // where writes are executed
    World* world = nullptr;
    CapsuleStack* capsules = nullptr;  // may be null
    // The log of the node; shared by its replicas.
    std::shared_ptr<LogCommitter> logs;
    const DiskRoom* disk = nullptr;  // may be null
    // Snapshots on their way are charged to it; may be null.
    std::shared_ptr<MemoryBudget> memory;
    // Sends to a member; called on the control loop.
    std::function<void(MemberIndex to, const ProtocolMessage& message)> send;
    // Sends a pull of another member's data, with service, partition and receiver filled in, and
    // returns the answer (an empty chunk if the transfer is over); parks. Bulk traffic, which may
    // go over other connections than `send`.
    std::function<StatusOr<SnapshotChunk>(MemberIndex from, const SnapshotPull& pull)> fetch;
    // Take one of the node's places for a snapshot that is sent, and restored; may be null.
    std::function<StatusOr<std::shared_ptr<const void>>()> take_send_place;
    std::function<StatusOr<std::shared_ptr<const void>>()> take_restore_place;
    // Opens the data; blocks. Null for a witness, which has no data.
    std::function<StatusOr<std::unique_ptr<ReplicatedState>>()> open_state;
    // Destroys data that are not open; blocks. Null: data that do not open cannot be replaced.
    std::function<Status()> destroy_state;
    // Called on a user-level thread of the worker loop before a write is executed; may be null.
    std::function<void(const LogEntry&)> before_write;
    // True if the member's node is heard; news of it come through NotePeer. Called on the control
    // loop. Null: there are no such news.
    std::function<bool(MemberIndex member)> hears;
    // Called on the control loop when the agent ends while it leads; may be null.
    std::function<void()> on_lead_end;
    // Called on the control loop after role or primary changed; may be null.
    std::function<void()> on_change;
    // Called once on the control loop after the agent has failed, or has repaired its data; all its
    // threads end soon, and it must be replaced by a new one. May be null.
    std::function<void()> on_end;
  };
  // What is known from the agent before this one.
  struct Opening {
    bool data_are_damaged = false;
    // The disk must take a write before the replica takes part again.
    bool proves_disk = false;
  };

  // REQUIRES: made by make_shared.
  ReplicaAgent(ReplicaAgentOptions options, Hooks hooks);
  ~ReplicaAgent();

  // Opens log and data and starts. Runs on a user-level thread of the control loop. A member whose
  // log is damaged starts as one that has forgotten it, and asks the others. Errors: also kDataLoss
  // log or data are damaged and no other member has them; nothing on the disk is changed then.
  Status Start(const Opening& opening);
  // Stops taking part. All threads and calls of PullSnapshot and Verify have ended once in_use()
  // is false.
  void Stop();
  bool in_use() const { return threads_alive_ > 0 || visitor_count_ > 0; }
  // Closes log and data; blocks the kernel thread. REQUIRES: stopped, or not started; not in use.
  void CloseStores();
  // True if the data were found damaged. Asked after the agent has ended.
  bool data_are_damaged() const;
  // True if it has ended because its data are whole again.
  bool has_repaired() const { return has_repaired_; }
  // A reader found stored data damaged. Any thread.
  void ReportDamage(const Status& damage);
  // Something stored in the node's log has decayed. If this log has lost entries that the data
  // contain, it drops them; otherwise the agent ends, and the next one begins with a damaged log.
  // Any thread.
  void CheckLog();

  void Receive(MemberIndex from, ProtocolMessage message);
  void Unreachable(MemberIndex member);
  // On the control loop.
  void NotePeer(const PeerNews& news);
  // A reader asks for the data at `now`; any thread. A resting partition then learns how current
  // its data are.
  void NoteReader(TimePoint now);
  // Parks until a primary that rested may serve reads again, for at most a tenth of a second. False
  // at once: this is not such a primary.
  bool AwaitReady(TimePoint now, TimePoint deadline);

  // See ReplicationProtocol::StartByHand; parks. Errors: also kUnavailable the replica has stopped.
  Status StartByHand();

  // Orders, stores and executes a write; parks until that is done. Sets the time at which it counts
  // as accepted: never before the time of an earlier entry. `version` is set if the write was
  // executed. At level 1 the write is stored and executed here and sent to the others afterwards.
  StatusOr<WriteOutcome> Write(LogEntry write, TimePoint deadline, Lsn* version);

  // A read in progress.
  struct Read {
    // The data were the partition's newest at this time or later; TimePoint::min(): not known.
    TimePoint current_as_of = TimePoint::min();
    uint64_t restore_count = 0;
  };
  // Checks whether the replica may serve the read now. Errors: kFailedPrecondition ask the primary;
  // kUnavailable the replica cannot serve reads; kInvalidArgument a staleness bound at level 1.
  StatusOr<Read> BeginRead(const ReplicaDemand& demand, TimePoint now) const;
  // Returns the report for the read's answer: the read saw no write after the report's version.
  // Errors: kUnavailable the data were replaced during the read.
  StatusOr<ReplicaReport> EndRead(const Read& read, TimePoint now) const;
  // Report for a request that was not served: version, epoch and primary as known here.
  ReplicaReport Report() const;
  // Report for a write that was executed as `version`.
  ReplicaReport ReportWrite(Lsn version) const;

  // Answers another member's pull of the data: an encoded chunk. Parks. See snapshot_sender.h.
  // Damage ends the agent.
  StatusOr<std::string> PullSnapshot(const SnapshotPull& pull);
  // Reads back a part of the data and checks it; see ReplicatedState::Verify. Damage ends the
  // agent. Errors: also kUnavailable there are no data to be checked now.
  StatusOr<VerifiedPart> Verify(const std::string& from, size_t size_max);

  struct State : ReplicaStatus {
    Lsn executed = 0;
    // Reads are refused until this is executed; see ReplicaAgent::readable_from_.
    Lsn readable_from = 0;
    bool is_witness = false;
    size_t log_size = 0;  // bytes of its entries
    // Snapshots sent to, and restored from, other members since the start, and the bytes of these
    // and of those that were broken off.
    uint64_t snapshots_sent = 0;
    uint64_t snapshots_taken = 0;
    uint64_t snapshot_size_sent = 0;
    uint64_t snapshot_size_taken = 0;
    // Transfers to other members that are under way.
    int snapshots_sending = 0;
    // While the data are being replaced: since when, and what has arrived of the present transfer.
    std::optional<TimePoint> restoring_since;
    uint64_t restored_chunk_count = 0;
    uint64_t restored_size = 0;
    // The data were the newest at this time; TimePoint::min(): not known.
    TimePoint current_as_of = TimePoint::min();
    bool is_restoring = false;
    neptune::Status failure;
    // kDataLoss: what of the log was found to be lost when the replica was opened. It asks, or has
    // asked, the others for it.
    neptune::Status damage;
    // The data do not count until the others have answered, because their log is lost.
    bool is_distrusted = false;
    // Why the data are being replaced by another member's, if they are damaged or missing.
    neptune::Status repair;
    // Result of the last attempt to restore another member's data.
    neptune::Status restore_failure;

    // Upper bound of the staleness of reads; nullopt: not known.
    std::optional<Duration> Staleness(TimePoint now) const;
    // Name of the role, or "witness".
    std::string_view RoleName() const;
  };
  State status() const;
  // The version that the data had `age` ago, if this is the primary; see 5.2.1.
  Lsn VersionAgo(Duration age, TimePoint now) const;
  const ReplicaAgentOptions& options() const { return options_; }
  bool is_write_anywhere() const { return options_.level == ConsistencyLevel::kWriteAnywhere; }
  // Number of times that the data were replaced by another member's.
  uint64_t restore_count() const;
  // Null for a witness, and while the data are not open. For tests.
  const ReplicatedState* state() const;
  // Path of reads, for the rules of device capsules.
  const std::string& read_path() const;
  NodeId NodeOf(MemberIndex member) const { return options_.group.members[member].node; }
  std::optional<MemberIndex> MemberOf(const NodeId& node) const;

 private:
  // A call of another thread that uses log or data.
  class Visit;

  Status OpenData(bool are_damaged);
  Status MakeProtocol();
  void SpawnOn(NodeLoop& loop, const char* what, Task body);
  void WakePump();  // on the control loop
  void WakeExecutor();

  // The protocol, on the control loop.
  void Pump();
  // Takes what the protocol has decided: messages to be sent, changes to be stored.
  void TakeActions();
  void SendNext();
  LogStorer::Hooks StoringHooks();
  void Publish();
  void Propose(LogEntry write, std::shared_ptr<PendingWrite> pending);
  // Refuses writes while the disk is almost full; at level 1 also while the log exceeds its size
  // limit.
  Status CheckRoom();
  // Ends the agent; OK: it has repaired its data.
  void Fail(const neptune::Status& status);

  // The data, on the executing loop.
  void Execute();
  Status ExecuteSome();
  void FindDroppable();

  std::unique_ptr<ReplicaRestore> MakeRestore();
  StatusOr<SnapshotMark> MarkSnapshot(Lsn last);
  void CloseIdleSnapshots();
  // Restores another member's data in place of damaged or missing ones.
  void Repair();

  const ReplicaAgentOptions options_;
  const Hooks hooks_;
  Loop& loop_;  // the control loop
  std::atomic<bool> stopping_{false};
  std::atomic<int> threads_alive_{0};
  std::atomic<int> visitor_count_{0};
  std::atomic<bool> has_repaired_{false};
  const std::unique_ptr<ReplicaDevice> device_;
  const std::unique_ptr<ReplicaLog> log_;
  const std::unique_ptr<ReplicaData> data_;
  LogStorer storer_;
  const std::unique_ptr<ReplicaBoard> board_;
  std::unique_ptr<ReplicationProtocol> protocol_;
  const std::unique_ptr<ReplicaRestore> restore_;
  const std::unique_ptr<SnapshotSender> sender_;
  std::atomic<bool> is_started_{false};

  // No reads of earlier data than these, which the replica had when it was last open. Fixed by
  // Start.
  Lsn readable_from_ = 0;
  // When droppable entries were last looked for, and the log's size then or since then, whichever
  // was smaller. Used by the executor only.
  Lsn dropped_at_ = 0;
  size_t dropped_at_size_ = 0;
  std::atomic<bool> drop_wanted_{false};
  std::atomic<bool> may_rest_{false};
  std::atomic<TimePoint> reader_noted_at_{TimePoint::min()};
  // Used on the control loop only.
  std::deque<OutgoingMessage> outgoing_;
  bool repairing_ = false;
  bool has_ended_ = false;
  bool has_room_ = true;
  AcceptanceClock accepted_;
  const std::unique_ptr<PendingWrites> writes_;

  std::vector<std::shared_ptr<OneShotEvent>> ready_waiters_;  // used on the control loop
  LeafMutex mutex_;
  ThreadRef pump_;  // changed on the control loop only, with mutex_ held
  ThreadRef executor_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
