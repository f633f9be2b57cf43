#include "neptune/replication/agent/replicated_service.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_store.h"
#include "neptune/replication/agent/replication.h"

namespace neptune {
namespace {

std::string StoreName(const ServiceName& service, PartitionId partition) {
  return StrCat("data-", service, "-", partition);
}

StatusOr<ReplicaDemand> DemandOf(const RequestContext& context) {
  if (context.extension().empty()) return ReplicaDemand();
  return DecodeReplicaDemand(context.extension());
}

}  // namespace

ReplicatedService::ReplicatedService(ModuleContext& context)
    : context_(context), replication_(*context.replication), service_(context.service) {}

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
  for (const PartitionId partition : context_.partitions) partitions_[partition];
  for (auto& [partition, kept] : partitions_) {
    StoreState::Options options;
    options.partition = partition;
    options.writes = writes_;
    if (on_change_) {
      options.on_change = [on_change = on_change_, partition](const LogEntry* entry) {
        on_change(partition, entry);
      };
    }
    const auto open = [this, options, name = StoreName(service_, partition),
                       &kept]() -> StatusOr<std::unique_ptr<ReplicatedState>> {
      NEPTUNE_ASSIGN_OR_RETURN(auto store, replication_.environment().world->storage().Open(name));
      NEPTUNE_ASSIGN_OR_RETURN(auto state, StoreState::Open(std::move(store), options));
      kept.state = state.get();
      return state;
    };
    NEPTUNE_RETURN_IF_ERROR(replication_.Host(service_, partition, open, before_write_));
    kept.agent = replication_.Find(service_, partition);
  }
  return OkStatus();
}

const StoreView& ReplicatedService::view(PartitionId partition) const {
  return partitions_.at(partition).state->view();
}

StatusOr<const ReplicatedService::Partition*> ReplicatedService::Find(PartitionId partition) const {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || found->second.agent == nullptr) {
    return Unavailable(service_, "/", partition, " is not on this node");
  }
  return &found->second;
}

bool ReplicatedService::IsPrimary(PartitionId partition) const {
  return partitions_.at(partition).agent->status().role == ReplicaRole::kPrimary;
}

Status ReplicatedService::Health(PartitionId partition) const {
  NEPTUNE_ASSIGN_OR_RETURN(const Partition* const kept, Find(partition));
  return kept->agent->status().failure;
}

void ReplicatedService::Report(RequestContext& context, const ReplicaReport& report) {
  context.set_answer_extension(EncodeReplicaReport(report));
}

Status ReplicatedService::RunWrite(const MethodName& name, RequestContext& context,
                                   const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaDemand demand, DemandOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(const Partition* const kept, Find(context.partition()));
  if (request.bytes().size() > kLogPayloadSizeMax) {
    return InvalidArgument("a write of ", request.bytes().size(), " bytes; at most ",
                           kLogPayloadSizeMax);
  }
  LogEntry entry;
  entry.method = name;
  entry.request_id = demand.id;
  entry.accepted_at = context.world().wall_time();
  entry.payload = request.bytes();
  Lsn version = 0;
  StatusOr<WriteOutcome> outcome =
      kept->agent->Write(std::move(entry), context.deadline(), &version);
  if (!outcome.ok()) {
    Report(context, kept->agent->Report());
    return outcome.status();
  }
  Report(context, kept->agent->ReportWrite(version));
  *response = Data(std::move(outcome->response));
  return outcome->status;
}

Status ReplicatedService::CallRead(const ReadFunction& function, const Partition& kept,
                                   RequestContext& context, const Data& request, Data* response) {
  CapsuleStack* const capsules = replication_.environment().capsules;
  if (capsules == nullptr) return function(kept.state->view(), context, request, response);
  const DeviceStore store(kept.state->store(), *capsules, kept.agent->read_path(),
                          {.deadline = context.deadline(),
                           .caller = context.origin().handler,
                           .service_class = context.service_class()});
  return function(StoreView(store), context, request, response);
}

Status ReplicatedService::RunRead(const ReadFunction& function, RequestContext& context,
                                  const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaDemand demand, DemandOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(const Partition* const kept, Find(context.partition()));
  const StatusOr<ReplicaAgent::Read> read = kept->agent->BeginRead(demand, context.Now());
  if (!read.ok()) {
    Report(context, kept->agent->Report());
    return read.status();
  }
  const Status status = CallRead(function, *kept, context, request, response);
  NEPTUNE_ASSIGN_OR_RETURN(const ReplicaReport report, kept->agent->EndRead(*read, context.Now()));
  Report(context, report);
  return status;
}

}  // namespace neptune
