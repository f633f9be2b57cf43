// One partition on one node: its log, its data, and its part in what its members do together.
//
//   Receive, Write ─► protocol (control loop) ─► pump thread: log on a device, messages to members
//                                             ─► executor thread (worker loop): log ─► data ─► outcomes to writers
//
// The pump stores one change at a time; what is decided meanwhile is stored together after it, so that one flush of the
// disk serves all writes that came during the last one. A log or data that fail stop the replica: its node does not
// announce the partition any more, and others go on.
//
// Source: [Shen02] 5.2; design 4.9.
// Threads: Receive and Unreachable on the control loop; Write and Snapshot on a user-level thread of any loop; the rest any.
// Units: times are TimePoint.
// Errors: of Write: kFailedPrecondition this is not the primary; kUnavailable it became known too late, or never, what
//   became of it: it is to be asked for again under the same RequestId; kResourceExhausted too many are under way;
//   kDeadlineExceeded, kCancelled as kUnavailable.
// Limits: SafeReplicaOptions::uncommitted_count_max writes under way, at level 1 CommutativeReplicaOptions::unstored_count_max;
//   kSnapshotSizeMax bytes of data a snapshot, and as many of a log that goes with them (kResourceExhausted, seen on the
//   status page of the member that wants them), which are held in memory while they are sent (see replication.h). At level 1 a log over log_size_max that others still need takes no more writes here (kResourceExhausted).

#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/replication/agent_protocol.h"
#include "neptune/replication/redo_log.h"
#include "neptune/replication/replica_extension.h"
#include "neptune/replication/replicated_state.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/service_module.h"
#include "neptune/thread/synchronization.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kSnapshotSizeMax = 1u << 30;
// Below it logs and data of partitions are, as SERVICE/PARTITION, for rules of device capsules.
inline constexpr char kReplicationDevice[] = "/neptune/replication";

// How the members agree on an order.
enum class ReplicationMode : uint8_t {
  kSafe,      // safe_replica.h
  kFailStop,  // fail_stop_replica.h: for the papers' figures, where nodes fail by stopping alone
};

struct ReplicaAgentOptions {
  LogIdentity identity;
  ReplicaGroup group;
  ConsistencyLevel level = ConsistencyLevel::kOrderedWrites;
  // kStalenessBounded: what a read may be behind. Default: 1 s (5.4.1).
  Duration staleness_max = std::chrono::seconds(1);
  ReplicationMode mode = ReplicationMode::kSafe;
  // The log keeps this many entries that the data have, for members that were away for a short time. Larger: fewer of them
  // need all data, more disk. Default: 20,000.
  Lsn kept_count = 20'000;
  // And it keeps what members that are away need, up to this size; at level 1 whatever its size, but then takes no more.
  // Default: 256 MiB.
  size_t log_size_max = 256u << 20;
};

class ReplicaAgent {
 public:
  struct Hooks {
    NodeLoop* control = nullptr;
    NodeLoop* worker = nullptr;
    World* world = nullptr;
    CapsuleStack* capsules = nullptr;  // may be null
    // Sends to a member; on the control loop.
    std::function<void(MemberIndex to, const ProtocolMessage& message)> send;
    // Fetches another member's data; parks.
    std::function<StatusOr<ReplicaSnapshot>(MemberIndex from)> fetch;
    // Opens the data; blocks. Null: a witness has none.
    std::function<StatusOr<std::unique_ptr<ReplicatedState>>()> open_state;
    // Called on a user-level thread of the worker loop before a write is executed; may be null.
    std::function<void(const LogEntry&)> before_write;
    // Role or primary have changed; on the control loop; may be null.
    std::function<void()> on_change;
  };

  ReplicaAgent(ReplicaAgentOptions options, Hooks hooks);
  ~ReplicaAgent();

  // Opens log and data and begins. On a user-level thread of the control loop.
  Status Start();
  // Takes part no more. Once threads_alive() is 0 nothing runs any more.
  void Stop();
  int threads_alive() const { return threads_alive_.load(std::memory_order_acquire); }

  void Receive(MemberIndex from, ProtocolMessage message);
  void Unreachable(MemberIndex member);

  // See AgentProtocol::StartByHand; parks. Errors: also kUnavailable the replica has stopped.
  Status StartByHand();

  // Orders, stores and executes a write; parks until that is done. `version` is set if it was executed. At level 1 it is
  // stored and executed here, and told to the others from then on.
  StatusOr<WriteOutcome> Write(LogEntry write, TimePoint deadline, Lsn* version);

  // A read of the data that is under way.
  struct Read {
    // The data were the partition's newest then, or later; TimePoint::min(): not known.
    TimePoint current_as_of = TimePoint::min();
    uint64_t restore_count = 0;
  };
  // Whether a read may begin here now. Errors: kFailedPrecondition the primary is to be asked; kUnavailable nothing can be
  // read here; kInvalidArgument level 1 bounds no staleness.
  StatusOr<Read> BeginRead(const ReplicaDemand& demand, TimePoint now) const;
  // What is to be reported with its answer: it saw no write after the report's version. Errors: kUnavailable the data were
  // replaced meanwhile.
  StatusOr<ReplicaReport> EndRead(const Read& read, TimePoint now) const;
  // Who and where one is, of a request that was not served.
  ReplicaReport Report() const;
  // Of a write that was executed as this version.
  ReplicaReport ReportWrite(Lsn version) const;

  // The data as they are now.
  StatusOr<ReplicaSnapshot> Snapshot();
  // One has reached another member.
  void NoteSnapshotSent() { ++snapshots_sent_; }

  struct State : ReplicaStatus {
    Lsn executed = 0;
    bool is_witness = false;
    size_t log_size = 0;  // bytes of its entries
    // Of this life: to other members, and of other members in the place of what was here.
    uint64_t snapshots_sent = 0;
    uint64_t snapshots_taken = 0;
    // The data were the newest at this time; TimePoint::min(): not known.
    TimePoint current_as_of = TimePoint::min();
    bool is_restoring = false;
    neptune::Status failure;
    // Of the last time that it was to take another member's data; OK once it has them.
    neptune::Status restore_failure;

    // How old at most what is read here may be; nullopt: not known.
    std::optional<Duration> Staleness(TimePoint now) const;
    // The role, or that it is a witness.
    std::string_view RoleName() const;
  };
  State status() const;
  // The version that the data had this long ago, if this is the primary; see 5.2.1.
  Lsn VersionAgo(Duration age, TimePoint now) const;
  const ReplicaAgentOptions& options() const { return options_; }
  bool is_write_anywhere() const { return options_.level == ConsistencyLevel::kWriteAnywhere; }
  // How often other data took the place of these.
  uint64_t restore_count() const { return restore_count_; }
  const ReplicatedState* state() const { return state_.get(); }
  const std::string& device_path() const { return device_path_; }
  NodeId NodeOf(MemberIndex member) const { return options_.group.members[member].node; }
  std::optional<MemberIndex> MemberOf(const NodeId& node) const;

 private:
  struct PendingWrite;

  Status MakeProtocol();
  Status OpenLog();
  Status OpenState();
  // Log and data of which one lacks what the other needs are emptied.
  Status BeginAnewUnlessSound();
  StatusOr<OriginIndex> IndexLog();
  // Ships it to the device; waits for its end however long it takes. Errors: those of the call, or the node stops.
  Status OnDevice(std::function<Status()> call);
  void SpawnOn(NodeLoop& loop, const char* what, Task body);

  void Pump();
  void Do(ProtocolActions actions);
  Status Store(const std::shared_ptr<LogChange>& change);
  void DropLog();
  void Send(std::vector<OutgoingMessage>& messages, const LogChange& change);
  void SendOne(OutgoingMessage& outgoing, const LogChange& change);
  StatusOr<std::vector<LogEntry>> AdoptEntries(std::deque<LogRun>& places, const LogChange& change);
  void Publish();
  TimePoint LeasedUntil(const ReplicaStatus& standing, Lsn executed);

  void Execute();
  Status ExecuteSome(Lsn to);
  void Deliver(std::vector<std::pair<LogEntry, WriteOutcome>> executed);
  void FindDroppable();

  void BeginRestore(MemberIndex from);
  Status Restore(MemberIndex from);
  void NoteRestore(const Status& status);
  Status AdoptData(const std::shared_ptr<ReplicaSnapshot>& snapshot);
  Status EndRestore(Lsn completed);
  StatusOr<Lsn> CompleteSnapshot(const std::shared_ptr<ReplicaSnapshot>& snapshot);
  Status CopyLog(Lsn last, const std::shared_ptr<ReplicaSnapshot>& snapshot);
  // The level's, before the protocol is asked.
  Status CheckRoom();

  void FailWriters(const char* why);
  void Propose(LogEntry write, std::shared_ptr<PendingWrite> pending);
  void Fail(const neptune::Status& status);

  const ReplicaAgentOptions options_;
  const Hooks hooks_;
  const std::string device_path_;
  Loop& loop_;  // the control loop
  std::unique_ptr<KeyValueStore> log_store_;
  std::shared_ptr<RedoLog> log_;
  std::shared_ptr<ReplicatedState> state_;  // null: a witness
  std::unique_ptr<AgentProtocol> protocol_;

  std::atomic<bool> stopping_{false};
  std::atomic<int> threads_alive_{0};
  ThreadRef pump_;
  ThreadRef executor_;
  ThreadMutex state_mutex_;  // who changes the data
  std::atomic<Lsn> executable_{0};
  std::atomic<Lsn> executed_{0};
  std::atomic<Lsn> executing_to_{0};  // may be in the data already
  std::atomic<uint64_t> restore_count_{0};
  std::atomic<uint64_t> snapshots_sent_{0};
  Lsn dropped_at_ = 0;  // the executor's
  std::atomic<bool> drop_wanted_{false};
  Epoch lease_epoch_ = 0;  // of the control loop
  Lsn lease_needs_ = 0;
  Lsn drop_before_ = 0;        // of the control loop; 0: nothing to drop
  bool restoring_ = false;     // of the control loop
  Duration restore_pause_{0};  // of the control loop
  std::multimap<Lsn, std::shared_ptr<PendingWrite>> writers_;  // of the control loop

  mutable LeafMutex mutex_;
  State published_ ABSL_GUARDED_BY(mutex_);
  // Versions of the primary by time, oldest first.
  std::deque<std::pair<TimePoint, Lsn>> versions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
