#include "neptune/replication/agent/replicated_service.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_store.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/state/lazy_store.h"
#include "neptune/replication/state/reopenable_store.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// Replicas that are opened at the same time: more than the threads of the device capsule for
// execution, which opens them.
constexpr size_t kOpeningCount = 8;

std::string StoreName(const ServiceName& service, PartitionId partition) {
  return StrCat("data-", service, "-", partition);
}

StatusOr<ReplicaDemand> DemandOf(const RequestContext& context) {
  if (context.extension().empty()) return ReplicaDemand();
  return DecodeReplicaDemand(context.extension());
}

bool IsUnreadable(const Status& failure) {
  return failure.code() == StatusCode::kDataLoss || failure.code() == StatusCode::kUnavailable;
}

}  // namespace

struct ReplicatedService::Partition {
  explicit Partition(std::function<void(const Status&)> on_damage)
      : store(std::move(on_damage)), view(store) {}
  ReopenableStore store;
  const StoreView view;
  ReplicaKeeper* keeper = nullptr;
  bool was_opened = false;               // or tried
  std::atomic<bool> has_started{false};  // the keeper is set
};

ReplicatedService::ReplicatedService(ModuleContext& context)
    : context_(context), replication_(*context.replication), service_(context.service) {}

ReplicatedService::~ReplicatedService() = default;

void ReplicatedService::Write(const MethodName& name, WriteFunction function) {
  writes_[name] = std::move(function);
  context_.registrar.Method(
      name, {.access = AccessMode::kWrite, .stateless = false},
      [this, name](RequestContext& context, const Data& request, Data* response) {
        return RunWrite(name, context, request, response);
      });
}

void ReplicatedService::Read(const MethodName& name, const MethodOptions& options,
                             ReadFunction function) {
  context_.registrar.Method(name, options,
                            [this, function = std::move(function)](
                                RequestContext& context, const Data& request, Data* response) {
                              return RunRead(function, context, request, response);
                            });
}

void ReplicatedService::BeforeWrite(std::function<void(const LogEntry&)> before_write) {
  before_write_ = std::move(before_write);
}

void ReplicatedService::OnChange(std::function<void(PartitionId, const LogEntry*)> on_change) {
  on_change_ = std::move(on_change);
}

Status ReplicatedService::Open() {
  for (const PartitionId partition : context_.partitions) {
    partitions_[partition] = std::make_unique<Partition>([this, partition](const Status& damage) {
      ReplicaKeeper* const keeper = replication_.FindKeeper(service_, partition);
      if (keeper != nullptr) keeper->ReportDamage(damage);
    });
  }
  const ThreadRef opener(UserThread::Current());
  size_t next = 0;
  size_t helper_count = 0;
  Status outcome;
  // The helpers refer to this stack, so this waits for them even while the node stops.
  while (helper_count + 1 < std::min(kOpeningCount, context_.partitions.size())) {
    const auto started = ThreadScheduler::Current()->Spawn(
        [&] {
          const Status opened = OpenNext(next);
          if (outcome.ok()) outcome = opened;
          if (--helper_count == 0) opener->Wake();
        },
        "open");
    if (!started.ok()) break;
    ++helper_count;
  }
  const Status opened = OpenNext(next);
  if (outcome.ok()) outcome = opened;
  while (helper_count > 0) this_thread::ParkUntilWoken();
  return outcome;
}

Status ReplicatedService::OpenNext(size_t& next) {
  while (next < context_.partitions.size()) {
    const Status opened = OpenPartition(context_.partitions[next++]);
    if (opened.ok()) continue;
    next = context_.partitions.size();
    return opened;
  }
  return OkStatus();
}

Status ReplicatedService::OpenPartition(PartitionId partition) {
  Partition& kept = *partitions_.at(partition);
  Replication::HostedData data;
  data.open = [this, partition, &kept] { return OpenState(partition, kept); };
  data.destroy = [this, name = StoreName(service_, partition)] {
    return replication_.environment().world->storage().Destroy(name);
  };
  data.before_write = before_write_;
  NEPTUNE_RETURN_IF_ERROR(replication_.Host(service_, partition, std::move(data)));
  kept.keeper = replication_.FindKeeper(service_, partition);
  kept.has_started = true;
  return OkStatus();
}

StatusOr<std::unique_ptr<ReplicatedState>> ReplicatedService::OpenState(PartitionId partition,
                                                                        Partition& kept) {
  StoreState::Options options;
  options.partition = partition;
  options.writes = writes_;
  if (on_change_) {
    options.on_change = [on_change = on_change_, partition](const LogEntry* entry) {
      on_change(partition, entry);
    };
  }
  DurableStorage& storage = replication_.environment().world->storage();
  const std::string name = StoreName(service_, partition);
  std::unique_ptr<KeyValueStore> store;
  if (!std::exchange(kept.was_opened, true) && !replication_.MayHaveStore(name)) {
    store = std::make_unique<LazyStore>(storage, name);
  } else {
    NEPTUNE_ASSIGN_OR_RETURN(store, storage.Open(name));
  }
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<ReplicatedState> state,
                           StoreState::Open(kept.store.Hold(std::move(store)), std::move(options)));
  if (kept.has_started && on_change_) on_change_(partition, nullptr);
  return state;
}

const StoreView& ReplicatedService::view(PartitionId partition) const {
  return partitions_.at(partition)->view;
}

StatusOr<ReplicatedService::Partition*> ReplicatedService::Find(PartitionId partition) const {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || !found->second->has_started) {
    return Unavailable(service_, "/", partition, " is not on this node");
  }
  return found->second.get();
}

bool ReplicatedService::IsPrimary(PartitionId partition) const {
  const StatusOr<Partition*> kept = Find(partition);
  if (!kept.ok()) return false;
  const ReplicaAgent::State state = (*kept)->keeper->status();
  return state.failure.ok() && state.role == ReplicaRole::kPrimary;
}

Status ReplicatedService::Health(PartitionId partition) const {
  NEPTUNE_ASSIGN_OR_RETURN(Partition* const kept, Find(partition));
  return kept->keeper->health().failure;
}

void ReplicatedService::NoteUse(PartitionId partition, const Status& use) {
  const StatusOr<Partition*> kept = Find(partition);
  if (kept.ok()) (*kept)->keeper->NoteUse(use);
}

void ReplicatedService::Report(RequestContext& context, const ReplicaReport& report) {
  context.set_answer_extension(EncodeReplicaReport(report));
}

Status ReplicatedService::RunWrite(const MethodName& name, RequestContext& context,
                                   const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaDemand demand, DemandOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(Partition* const kept, Find(context.partition()));
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<ReplicaAgent> agent, kept->keeper->AgentNow());
  if (request.bytes().size() > kLogPayloadSizeMax) {
    return InvalidArgument("a write of ", request.bytes().size(), " bytes; at most ",
                           kLogPayloadSizeMax);
  }
  LogEntry entry;
  entry.method = name;
  entry.request_id = demand.id;
  entry.payload = request.bytes();
  Lsn version = 0;
  StatusOr<WriteOutcome> outcome = agent->Write(std::move(entry), context.deadline(), &version);
  if (!outcome.ok()) {
    Report(context, agent->Report());
    return outcome.status();
  }
  Report(context, agent->ReportWrite(version));
  *response = Data(std::move(outcome->response));
  return outcome->status;
}

Status ReplicatedService::ReadOnDevice(Partition& kept, const ReplicaAgent& agent,
                                       const RequestContext& context,
                                       const std::function<Status(const KeyValueStore&)>& read) {
  CapsuleStack* const capsules = replication_.environment().capsules;
  if (capsules == nullptr) return read(kept.store);
  return read(DeviceStore(kept.store, *capsules, agent.read_path(),
                          {.deadline = context.deadline(),
                           .caller = context.origin().handler,
                           .service_class = context.service_class()}));
}

Status ReplicatedService::RunRead(const ReadFunction& function, RequestContext& context,
                                  const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaDemand demand, DemandOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(Partition* const kept, Find(context.partition()));
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<ReplicaAgent> agent, kept->keeper->AgentNow());
  agent->NoteReader(context.Now());
  StatusOr<ReplicaAgent::Read> read = agent->BeginRead(demand, context.Now());
  if (!read.ok() && agent->AwaitReady(context.Now(), context.deadline())) {
    read = agent->BeginRead(demand, context.Now());
  }
  if (!read.ok()) {
    Report(context, agent->Report());
    return read.status();
  }
  Status failure;
  const Status status = ReadOnDevice(*kept, *agent, context, [&](const KeyValueStore& store) {
    return function(StoreView(store, &failure), context, request, response);
  });
  // Whatever the function made of it: another replica can read what this one cannot.
  if (IsUnreadable(failure)) {
    Report(context, agent->Report());
    return Unavailable("the data cannot be read on this node: ", ToStd(failure.message()));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaReport report, agent->EndRead(*read, context.Now()));
  Report(context, report);
  return status;
}

}  // namespace neptune
