#include "neptune/replication/agent/replication.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/replication/agent/node_pulse.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/protocol/replication_protocol.h"
#include "neptune/service/loop_thread.h"

namespace neptune {
namespace {

// Replicas that an announcement looks at; more than it has room for.
constexpr size_t kAnnouncedCountMax = 32;
constexpr Duration kStopPoll = std::chrono::milliseconds(1);

// The most important of what went wrong.
const Status& ToShow(const ReplicaKeeper::Health& health, const ReplicaAgent::State& state) {
  if (!health.failure.ok()) return health.failure;
  return state.restore_failure.ok() ? state.damage : state.restore_failure;
}

// Seconds until the replica is opened again; empty: that is not planned.
std::string NextAttempt(const ReplicaKeeper::Health& health, TimePoint now) {
  if (health.next_attempt == kNever) return "";
  return StrCat(ToSeconds(std::max(health.next_attempt - now, Duration(0))));
}

// The snapshots that are being sent and restored, in words.
std::string TransfersOf(const ReplicaAgent::State& state, TimePoint now) {
  std::string text;
  if (state.snapshots_sending > 0) StrAppend(&text, "sends ", state.snapshots_sending, " ");
  if (!state.restoring_since) return text;
  StrAppend(&text, "restores for ", ToSeconds(now - *state.restoring_since),
            " s: ", state.restored_size, " bytes in ", state.restored_chunk_count, " chunks");
  return text;
}

// What a message says of its sender has to be what the caller's certificate says, if it has shown
// one.
Status CheckSender(const RequestContext& context, const NodeId& sender) {
  if (context.caller() == nullptr || *context.caller() == sender.value()) return OkStatus();
  return absl::PermissionDeniedError(
      StrCat("node '", *context.caller(), "' sent what is from node ", sender));
}

}  // namespace

// The services that other nodes call.
class ReplicationModule final : public ServiceModule {
 public:
  explicit ReplicationModule(Replication& replication) : replication_(replication) {}

  Status Start(ModuleContext& context) override {
    const MethodOptions options = {
        .access = AccessMode::kWrite, .stateless = false, .parks = false};
    context.registrar.Method(MethodName(kExchangeMethod), options,
                             [this](RequestContext& context, const Data& request, Data*) {
                               return replication_.Exchange(context, request);
                             });
    context.registrar.Method(MethodName(kPulseMethod), options,
                             [this](RequestContext& context, const Data& request, Data* response) {
                               return replication_.AnswerPulse(context, request, response);
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "replication"; }

 private:
  Replication& replication_;
};

class SnapshotModule final : public ServiceModule {
 public:
  explicit SnapshotModule(Replication& replication) : replication_(replication) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName(kPullMethod),
                             {.access = AccessMode::kWrite, .stateless = false},
                             [this](RequestContext& context, const Data& request, Data* response) {
                               return replication_.SendChunk(context, request, response);
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "replication"; }

 private:
  Replication& replication_;
};

Replication::Replication(Environment environment)
    : environment_(std::move(environment)),
      links_(*environment_.client, *environment_.control,
             [this](const NodeId& to, const AddressedMessage& addressed) {
               const auto agent = Find(addressed.service, addressed.partition);
               if (agent == nullptr) return;
               if (const auto member = agent->MemberOf(to)) agent->Unreachable(*member);
             }),
      pulses_(*environment_.client, *environment_.control, environment_.node,
              ServiceName(kReplicationService), PulseHooks()),
      scrubber_(*environment_.control),
      log_scrubber_(
          *environment_.control, environment_.capsules,
          {.log = [this] { return Logs()->log(); }, .on_damage = [this] { CheckLogs(); }}) {}

Replication::~Replication() = default;

std::unique_ptr<ServiceModule> Replication::MakeModule() {
  return std::make_unique<ReplicationModule>(*this);
}

std::unique_ptr<ServiceModule> Replication::MakeSnapshotModule() {
  return std::make_unique<SnapshotModule>(*this);
}

ReplicaKeeper* Replication::FindKeeper(const ServiceName& service, PartitionId partition) const {
  LeafLock lock(&mutex_);
  const auto found = keepers_.find({service, partition});
  return found == keepers_.end() ? nullptr : found->second.get();
}

std::shared_ptr<ReplicaAgent> Replication::Find(const ServiceName& service,
                                                PartitionId partition) const {
  const ReplicaKeeper* const keeper = FindKeeper(service, partition);
  return keeper == nullptr ? nullptr : keeper->agent();
}

// A primary that callers cannot reach would keep its place by heartbeats. It sends nothing, like
// one whose network is cut, so that the others elect another; then it follows as a secondary.
void Replication::SendFrom(const ReplicaAgentOptions& replica, MemberIndex to,
                           const ProtocolMessage& message) {
  const ServiceName& service = replica.identity.service;
  const PartitionId partition = replica.identity.partition;
  if (environment_.can_serve && !environment_.can_serve()) {
    const std::shared_ptr<ReplicaAgent> agent = Find(service, partition);
    const ReplicaRole role = agent == nullptr ? ReplicaRole::kBlank : agent->status().role;
    if (role == ReplicaRole::kPrimary || role == ReplicaRole::kCandidate) return;
  }
  links_.Send(replica.group.members[to].node,
              {service, partition, environment_.node, EncodeProtocolMessage(message)});
}

ReplicaAgent::Hooks Replication::HooksOf(const ReplicaAgentOptions& replica) {
  ReplicaAgent::Hooks hooks;
  hooks.control = environment_.control;
  // Neither a worker loop, where a long request would hold up the writes, nor the control loop,
  // whose heartbeats writes would hold up.
  hooks.worker = environment_.apply;
  hooks.world = environment_.world;
  hooks.logs = Logs();
  hooks.capsules = environment_.capsules;
  hooks.disk = environment_.disk;
  hooks.memory = environment_.memory;
  hooks.send = [this, replica](MemberIndex to, const ProtocolMessage& message) {
    SendFrom(replica, to, message);
  };
  hooks.fetch = [this, replica](MemberIndex from,
                                const SnapshotPull& pull) -> StatusOr<SnapshotChunk> {
    StatusOr<SnapshotChunk> fetched = Cancelled("not fetched");
    NEPTUNE_RETURN_IF_ERROR(
        RunOnThreadOf(*environment_.apply, "fetch", [&] { fetched = Fetch(replica, from, pull); }));
    return fetched;
  };
  hooks.hears = [this, replica](MemberIndex member) {
    return pulses_.Hears(replica.group.members[member].node);
  };
  hooks.on_lead_end = [this, replica] {
    pulses_.NoteEnd(replica.identity.service, replica.identity.partition);
  };
  hooks.take_send_place = [this] { return sent_.Take("sends"); };
  hooks.take_restore_place = [this] { return taken_.Take("takes"); };
  hooks.on_change = environment_.announce_soon;
  return hooks;
}

std::shared_ptr<LogCommitter> Replication::Logs() {
  LeafLock lock(&mutex_);
  if (logs_ == nullptr) {
    // Differs from log to log of a node.
    const auto made_at = static_cast<uint64_t>(environment_.world->wall_time().ns_since_1970);
    const uint64_t salt = Checksum64(environment_.node.value(), made_at) | 1;
    logs_ = std::make_shared<LogCommitter>(environment_.world->storage(), salt);
  }
  return logs_;
}

bool Replication::MayHaveStore(const std::string& name) { return Logs()->MayHaveStore(name); }

StatusOr<ReplicaAgentOptions> Replication::OptionsOf(const Key& key) const {
  const auto& [service, partition] = key;
  const std::optional<ReplicationOptions> said = environment_.options(service);
  if (!said) {
    return FailedPrecondition("service ", service,
                              " is replicated, but the spec has no 'replication' for it");
  }
  const ReplicationOptions& wanted = *said;
  ReplicaAgentOptions options;
  options.identity = {environment_.cluster, service, partition, environment_.node};
  options.identity.is_ordered = wanted.level != ConsistencyLevel::kWriteAnywhere;
  options.identity.partition_count = wanted.partition_count;
  options.level = wanted.level;
  options.staleness_max = wanted.staleness_max;
  options.mode = wanted.mode;
  options.kept_count = wanted.log_entries_kept;
  options.log_size_max = wanted.log_size_max;
  options.scrub_interval = wanted.scrub_interval;
  options.group.members = wanted.members(partition);
  bool is_member = false;
  for (size_t i = 0; i < options.group.members.size(); ++i) {
    if (options.identity.is_ordered)
      options.identity.members.push_back(options.group.members[i].node);
    if (options.group.members[i].node != environment_.node) continue;
    options.group.self = static_cast<MemberIndex>(i);
    is_member = true;
  }
  if (is_member) return options;
  return InvalidArgument("node ", environment_.node, " is not a member of ", service, "/",
                         partition);
}

Status Replication::Host(const ServiceName& service, PartitionId partition, HostedData data) {
  NEPTUNE_ASSIGN_OR_RETURN(ReplicaAgentOptions options, OptionsOf({service, partition}));
  if (environment_.capsules != nullptr) {
    NEPTUNE_RETURN_IF_ERROR(MakeReplicationCapsules(*environment_.capsules));
  }
  ReplicaAgent::Hooks hooks = HooksOf(options);
  hooks.open_state = std::move(data.open);
  hooks.destroy_state = std::move(data.destroy);
  if (data.before_write != nullptr) {
    const std::vector<NodeLoop*>& workers = environment_.loops->workers();
    hooks.worker = workers[partition.value() % workers.size()];
    hooks.before_write = std::move(data.before_write);
  }
  auto keeper = std::make_unique<ReplicaKeeper>(std::move(options), std::move(hooks));
  ReplicaKeeper* const started = keeper.get();
  {
    LeafLock lock(&mutex_);
    if (!keepers_.emplace(Key(service, partition), std::move(keeper)).second) {
      return InvalidArgument(service, "/", partition, " is hosted twice");
    }
  }
  Status outcome;
  NEPTUNE_RETURN_IF_ERROR(RunOnThreadOf(*environment_.control, "start", [&] {
    outcome = started->Start();
    if (!outcome.ok()) return;
    scrubber_.Add(*started);
    WatchNodesOf(*started);
    log_scrubber_.Want(started->options().scrub_interval);
  }));
  NEPTUNE_RETURN_IF_ERROR(Annotate(outcome, StrCat("replica of ", service, "/", partition)));
  ShowMetrics(*started);
  ShowLogMetrics();
  return OkStatus();
}

void Replication::ShowMetrics(const ReplicaKeeper& keeper) {
  if (environment_.metrics == nullptr) return;
  if (!totals_) {
    StatusOr<ReplicaTotals> totals =
        ReplicaTotals::Make(*environment_.metrics, [this](const auto& visit) {
          LeafLock lock(&mutex_);
          for (const auto& [key, one] : keepers_) visit(*one);
        });
    LOG_IF(WARNING, !totals.ok()) << "replicas without totals: " << totals.status();
    if (totals.ok()) totals_ = *std::move(totals);
  }
  if (metrics_.size() == kOwnMetricsCountMax) return;
  StatusOr<ReplicaMetrics> metrics =
      ReplicaMetrics::Make(*environment_.metrics, keeper, *environment_.control->loop);
  if (metrics.ok()) {
    metrics_.push_back(*std::move(metrics));
  } else {  // the registry has no room for more series
    LOG(WARNING) << "replica of " << keeper.name() << " without metrics: " << metrics.status();
  }
}

void Replication::ShowLogMetrics() {
  if (environment_.metrics == nullptr || !log_metrics_.empty()) return;
  const auto show = [this](const char* name, const char* help, std::function<double()> read) {
    StatusOr<CallbackGauge> series =
        environment_.metrics->AddCallbackCounter(name, help, {}, std::move(read));
    if (series.ok()) log_metrics_.push_back(*std::move(series));
  };
  show("neptune_redo_log_checked_bytes_total", "Bytes of the node's log that were read back.",
       [this] { return log_scrubber_.standing().progress.checked_size; });
  show("neptune_redo_log_damage_total", "Places and entries of the node's log found damaged.",
       [this] { return log_scrubber_.standing().damage_count; });
}

void Replication::DescribeLog(StatusReport* report) const {
  const LogScrubber::Standing standing = log_scrubber_.standing();
  report->AddFact("node's log: bytes checked", standing.progress.checked_size);
  report->AddFact("node's log: checks to the end", standing.progress.pass_count);
  if (standing.progress.pass_count > 0) {
    const TimePoint now = environment_.control->loop->Now();
    report->AddFact("node's log: last check ago (s)", ToSeconds(now - standing.progress.ended_at));
  }
  report->AddFact("node's log: places found damaged", standing.damage_count);
  if (!standing.last_damage.empty()) report->AddFact("node's log: damage", standing.last_damage);
}

void Replication::CheckLogs() {
  LeafLock lock(&mutex_);
  for (const auto& [key, keeper] : keepers_) {
    if (const auto agent = keeper->agent()) agent->CheckLog();
  }
}

Status Replication::Exchange(const RequestContext& context, const Data& request) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<AddressedMessage> messages,
                           DecodeAddressedMessages(request.bytes()));
  for (const AddressedMessage& addressed : messages) {
    NEPTUNE_RETURN_IF_ERROR(CheckSender(context, addressed.from));
    const auto agent = Find(addressed.service, addressed.partition);
    if (agent == nullptr) continue;  // not open, or the specs differ
    const auto from = agent->MemberOf(addressed.from);
    if (!from) continue;
    NEPTUNE_ASSIGN_OR_RETURN(ProtocolMessage message,
                             DecodeProtocolMessage(agent->options().level, addressed.message));
    environment_.control->loop->Post([agent, from = *from, message = std::move(message)]() mutable {
      agent->Receive(from, std::move(message));
    });
  }
  return OkStatus();
}

// Idle partitions.

NodePulses::Hooks Replication::PulseHooks() {
  NodePulses::Hooks hooks;
  hooks.may_lead = environment_.can_serve;
  hooks.on_heard = [this](const NodeId& node) { HandPeerNews(node, {}); };
  hooks.on_silent = [this](const NodeId& node, TimePoint heard_at) {
    HandPeerNews(node, {.kind = PeerNews::Kind::kSilent, .heard_at = heard_at});
  };
  hooks.on_end = [this](const NodeId& node, const LeadEnd* end) {
    PeerNews news{.kind = PeerNews::Kind::kEnded};
    if (end == nullptr) return HandPeerNews(node, news);
    const std::shared_ptr<ReplicaAgent> agent = Find(end->service, end->partition);
    const auto member = agent == nullptr ? std::nullopt : agent->MemberOf(node);
    if (!member) return;
    news.member = *member;
    agent->NotePeer(news);
  };
  return hooks;
}

std::vector<std::shared_ptr<ReplicaAgent>> Replication::Agents() const {
  std::vector<std::shared_ptr<ReplicaAgent>> agents;
  LeafLock lock(&mutex_);
  for (const auto& [key, keeper] : keepers_) {
    if (auto agent = keeper->agent()) agents.push_back(std::move(agent));
  }
  return agents;
}

void Replication::HandPeerNews(const NodeId& node, PeerNews news) {
  for (const std::shared_ptr<ReplicaAgent>& agent : Agents()) {
    const std::optional<MemberIndex> member = agent->MemberOf(node);
    if (!member) continue;
    news.member = *member;
    agent->NotePeer(news);
  }
}

void Replication::WatchNodesOf(const ReplicaKeeper& added) {
  std::set<NodeId> nodes;
  const auto collect = [&nodes](const ReplicaKeeper& keeper) {
    for (const ReplicaMember& member : keeper.options().group.members) nodes.insert(member.node);
  };
  {
    LeafLock lock(&mutex_);
    if (keepers_.size() <= kAwakeReplicaCountMax) return;
    if (std::exchange(has_pulses_, true)) {
      collect(added);
    } else {
      for (const auto& [key, keeper] : keepers_) collect(*keeper);
    }
  }
  for (const NodeId& node : nodes) pulses_.Watch(node);
}

Status Replication::AnswerPulse(const RequestContext& context, const Data& request,
                                Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const NodePulse pulse, DecodeNodePulse(request.bytes()));
  NEPTUNE_RETURN_IF_ERROR(CheckSender(context, pulse.from));
  StatusOr<std::string> answer = Cancelled("the node is stopping");
  NEPTUNE_RETURN_IF_ERROR(RunOnThreadOf(*environment_.control, "pulse",
                                        [&] { answer = pulses_.Answer(request.bytes()); }));
  NEPTUNE_RETURN_IF_ERROR(answer.status());
  *response = Data(*std::move(answer));
  return OkStatus();
}

Status Replication::SendChunk(const RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const SnapshotPull pull, DecodeSnapshotPull(request.bytes()));
  NEPTUNE_RETURN_IF_ERROR(CheckSender(context, pull.receiver));
  const ReplicaKeeper* const keeper = FindKeeper(pull.service, pull.partition);
  if (keeper == nullptr) return NotFound(pull.service, "/", pull.partition, " is not on this node");
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<ReplicaAgent> agent, keeper->AgentNow());
  if (!agent->MemberOf(pull.receiver)) {
    return absl::PermissionDeniedError(
        StrCat("node ", pull.receiver, " keeps no replica of ", pull.service, "/", pull.partition));
  }
  NEPTUNE_ASSIGN_OR_RETURN(std::string chunk, agent->PullSnapshot(pull));
  *response = Data(std::move(chunk));
  return OkStatus();
}

StatusOr<SnapshotChunk> Replication::Fetch(const ReplicaAgentOptions& replica, MemberIndex from,
                                           SnapshotPull pull) {
  pull.service = replica.identity.service;
  pull.partition = replica.identity.partition;
  pull.receiver = environment_.node;
  ClientSession session(*environment_.client);
  CallOptions options;
  options.deadline = this_thread::Now() + (pull.is_over ? kLeaveTimeout : kPullTimeout);
  options.attempts_max = 1;
  options.only = replica.group.members[from].node;
  Data response;
  // Called as a write, so that it is not hedged: a transfer answers one pull at a time.
  const Status status = Call(
      session,
      {ServiceName(kSnapshotService), PartitionId(0), MethodName(kPullMethod), AccessMode::kWrite},
      Data(EncodeSnapshotPull(pull)), &response, options);
  // Stops only the other node, or this one, which the caller notices by itself.
  if (status.code() == StatusCode::kCancelled) return Unavailable(ToStd(status.message()));
  NEPTUNE_RETURN_IF_ERROR(status);
  if (pull.is_over) return SnapshotChunk();
  return DecodeSnapshotChunk(response.bytes());
}

void Replication::Stop() {
  links_.Stop();
  pulses_.Stop();
  std::vector<ReplicaKeeper*> keepers;
  {
    LeafLock lock(&mutex_);
    for (const auto& [key, keeper] : keepers_) keepers.push_back(keeper.get());
  }
  scrubber_.Stop();
  log_scrubber_.Stop();
  for (ReplicaKeeper* const keeper : keepers) keeper->Stop();
  const auto in_use = [this, &keepers] {
    return scrubber_.in_use() || log_scrubber_.in_use() || pulses_.in_use() ||
           std::any_of(keepers.begin(), keepers.end(), [](auto* one) { return one->in_use(); });
  };
  while (in_use()) {
    if (this_thread::SleepFor(kStopPoll) == ParkResult::kStopping) return;
  }
}

AnnouncedVersion Replication::VersionOf(const Key& key, const ReplicaKeeper& keeper,
                                        const ReplicaAgent& agent) const {
  const ReplicaAgent::State state = agent.status();
  const TimePoint now = environment_.control->loop->Now();
  const bool is_bounded = keeper.options().level == ConsistencyLevel::kStalenessBounded;
  return {.service = ServiceNumber(key.first),
          .partition = key.second,
          .is_primary = state.role == ReplicaRole::kPrimary,
          .is_staleness_bounded = is_bounded,
          .is_peer = state.role == ReplicaRole::kPeer,
          .epoch = state.epoch,
          .version = keeper.is_write_anywhere() ? 0 : state.executed,
          .version_then = agent.VersionAgo(keeper.options().staleness_max, now)};
}

// Looks at a few replicas only, beginning after the last one that was announced.
std::string Replication::Announce() {
  std::vector<AnnouncedVersion> versions;
  std::vector<Key> keys;
  LeafLock lock(&mutex_);
  auto next = keepers_.upper_bound(last_announced_);
  for (size_t i = 0; i < keepers_.size() && versions.size() < kAnnouncedCountMax; ++i, ++next) {
    if (next == keepers_.end()) next = keepers_.begin();
    const std::shared_ptr<ReplicaAgent> agent = next->second->agent();
    if (agent == nullptr || !agent->status().failure.ok()) continue;
    versions.push_back(VersionOf(next->first, *next->second, *agent));
    keys.push_back(next->first);
  }
  if (versions.empty()) return "";
  size_t encoded = 0;
  std::string section = EncodeVersions(versions, &encoded);
  last_announced_ = keys[(encoded == 0 ? versions.size() : encoded) - 1];
  return section;
}

void Replication::Describe(StatusReport* report) const {
  StatusTable table{
      "Replicas on this node",
      {"service",         "partition",          "level",        "role",        "epoch",
       "primary",         "write set",          "executed",     "committed",   "received",
       "in epoch",        "staleness (s)",      "rests",        "log (bytes)", "snapshots sent",
       "snapshots taken", "transfers",          "opened again", "failures",    "next attempt (s)",
       "checked",         "last check ago (s)", "failure"},
      {}};
  const TimePoint now = environment_.control->loop->Now();
  size_t resting_count = 0;
  LeafLock lock(&mutex_);
  for (const auto& [key, keeper] : keepers_) {
    const ReplicaAgent::State state = keeper->status();
    resting_count += state.rests ? 1 : 0;
    const ReplicaKeeper::Health health = keeper->health();
    const std::optional<Duration> behind = state.Staleness(now);
    std::string members;
    for (size_t i = 0; i < keeper->options().group.members.size(); ++i) {
      const auto member = static_cast<MemberIndex>(i);
      if (state.write_set.contains(member)) StrAppend(&members, keeper->NodeOf(member), " ");
    }
    table.AddRow(
        key.first, key.second.value(), static_cast<int>(keeper->options().level), state.RoleName(),
        state.epoch, state.primary ? keeper->NodeOf(*state.primary).value() : "", members,
        state.executed, state.committed, state.last_lsn, state.last_epoch,
        behind ? StrCat(ToSeconds(*behind)) : "not known", state.rests ? "yes" : "", state.log_size,
        state.snapshots_sent, state.snapshots_taken, TransfersOf(state, now), health.reopen_count,
        health.failure_count, NextAttempt(health, now), health.scrub.pass_count,
        health.scrub.pass_count == 0 ? "" : StrCat(ToSeconds(now - health.scrub.ended_at)),
        ToStd(ToShow(health, state).message()));
  }
  report->tables.push_back(std::move(table));
  report->AddFact("replicas at rest", resting_count);
  DescribeLog(report);
}

std::vector<std::string> Replication::Failures() const {
  std::vector<std::string> failures;
  const TimePoint now = environment_.control->loop->Now();
  LeafLock lock(&mutex_);
  for (const auto& [key, keeper] : keepers_) {
    const ReplicaKeeper::Health health = keeper->health();
    if (health.failure.ok()) continue;
    if (failures.size() == kFailureCountMax) {
      failures.push_back("further replicas have failed");
      break;
    }
    const std::string next = NextAttempt(health, now);
    failures.push_back(StrCat("replica of ", keeper->name(), ": ", ToStd(health.failure.message()),
                              next.empty() ? "" : StrCat("; it is opened again in ", next, " s")));
  }
  return failures;
}

}  // namespace neptune
