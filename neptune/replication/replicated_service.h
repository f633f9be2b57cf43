// What the module of a replicated service writes: its writes, its reads, and nothing of replication.
//
//   Status Start(ModuleContext& context) override {
//     service_ = std::make_unique<ReplicatedService>(context);
//     service_->Write(MethodName("Put"), [](const WriteContext& write, std::string_view request, std::string*) {
//       write.changes.Put("key", request);
//       return OkStatus();
//     });
//     service_->Read(MethodName("Get"), {}, [](const StoreView& store, RequestContext&, const Data&, Data* response) {
//       NEPTUNE_ASSIGN_OR_RETURN(const auto value, store.Get("key"));
//       *response = Data(value.value_or(""));
//       return OkStatus();
//     });
//     return service_->Open();
//   }
//
// A write is executed once on every replica, in the same order, at level 1 in any; all that it does must follow from its
// WriteContext and its request. It runs on a device capsule's thread, where it must not wait for anything but the store. A read runs where the
// session's versions and the service's staleness bound allow it, on a user-level thread; each of its calls of the store
// waits in the device capsule, and what it gives to Scan runs on a thread of that.
//
// Source: [Shen02] 2.3 (access modes), 5.2.
// Threads: as methods of service_module.h.
// Errors: of a write, as answers: what the function returned; kFailedPrecondition, with the primary in the report, on a
//   secondary; kUnavailable it is not known what became of it. Callers that use ReplicaSession see neither of the latter
//   two before their deadline.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neptune/replication/replication.h"
#include "neptune/replication/store_state.h"
#include "neptune/service/service_module.h"

namespace neptune {

using ReadFunction = std::function<Status(const StoreView& store, RequestContext& context,
                                          const Data& request, Data* response)>;

class ReplicatedService {
 public:
  // REQUIRES: it is destroyed in the module's Stop or later, before what its functions use.
  explicit ReplicatedService(ModuleContext& context);

  void Write(const MethodName& name, WriteFunction function);
  void Read(const MethodName& name, const MethodOptions& options, ReadFunction function);
  // Called on a user-level thread before each write is executed, for instance to use processor time for it.
  void BeforeWrite(std::function<void(const LogEntry&)> before_write);
  // Called after each write that was executed in a partition, with null after all its data were replaced.
  void OnChange(std::function<void(PartitionId, const LogEntry*)> on_change);
  // The partitions' replicas begin. All is registered before.
  Status Open();

  // The data of a partition of this node; calls block the kernel thread. REQUIRES: Open succeeded.
  const StoreView& view(PartitionId partition) const;
  // For ServiceModule::Health.
  Status Health(PartitionId partition) const;

 private:
  struct Partition {
    ReplicaAgent* agent = nullptr;
    const StoreState* state = nullptr;
  };
  StatusOr<const Partition*> Find(PartitionId partition) const;
  Status RunWrite(const MethodName& name, RequestContext& context, const Data& request,
                  Data* response);
  Status RunRead(const ReadFunction& function, RequestContext& context, const Data& request,
                 Data* response);
  // Its calls of the store wait in the device capsule.
  Status CallRead(const ReadFunction& function, const Partition& kept, RequestContext& context,
                  const Data& request, Data* response);
  static void Report(RequestContext& context, const ReplicaReport& report);

  ModuleContext& context_;
  Replication& replication_;
  const ServiceName service_;
  std::map<MethodName, WriteFunction> writes_;
  std::function<void(const LogEntry&)> before_write_;
  std::function<void(PartitionId, const LogEntry*)> on_change_;
  std::map<PartitionId, Partition> partitions_;  // fixed after Open
};

}  // namespace neptune
