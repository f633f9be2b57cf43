// Base of a replicated service's module, which only implements the service's writes and reads.
//
//   Status Start(ModuleContext& context) override {
//     service_ = std::make_unique<ReplicatedService>(context);
//     service_->Write(MethodName("Put"), [](const WriteContext& write, std::string_view request,
//                                           std::string*) {
//       write.changes.Put("key", request);
//       return OkStatus();
//     });
//     const auto get = [](const StoreView& store, RequestContext&, const Data&, Data* response) {
//       NEPTUNE_ASSIGN_OR_RETURN(const auto value, store.Get("key"));
//       *response = Data(value.value_or(""));
//       return OkStatus();
//     };
//     service_->Read(MethodName("Get"), {}, get);
//     return service_->Open();
//   }
//
// A write is executed once on every replica, in the same order (at level 1 in any order), and must
// depend on its WriteContext and its request only. It runs on a thread of the device capsule, where
// it must wait for nothing but the store. A read runs on a replica that the session's versions and
// the service's staleness bound allow, on a user-level thread; each of its calls of the store waits
// in the device capsule, and visitors of Scan run on a thread of that capsule.
//
// Source: [Shen02] 2.3 (access modes), 5.2.
// Threads: as methods of service_module.h.
// Errors: a write is answered with the function's status; kFailedPrecondition on a secondary, with
//   the primary in the report; kUnavailable the outcome is unknown. Callers that use ReplicaSession
//   see neither of the latter two before their deadline. A read that meets stored data that are
//   damaged, or data that are not open, is answered with kUnavailable and may be retried elsewhere;
//   the replica then repairs its data.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neptune/replication/state/store_state.h"
#include "neptune/service/service_module.h"

namespace neptune {

class ReplicaAgent;
class ReplicaKeeper;
class Replication;
struct ReplicaReport;

using ReadFunction = std::function<Status(const StoreView& store, RequestContext& context,
                                          const Data& request, Data* response)>;

class ReplicatedService {
 public:
  // REQUIRES: destroyed in the module's Stop or later, before the objects that its functions use.
  explicit ReplicatedService(ModuleContext& context);
  ~ReplicatedService();

  void Write(const MethodName& name, WriteFunction function);
  void Read(const MethodName& name, const MethodOptions& options, ReadFunction function);
  // Called on a user-level thread before each write is executed, e.g. to simulate its processor
  // time.
  void BeforeWrite(std::function<void(const LogEntry&)> before_write);
  // Called for each write executed in a partition, after the run of writes that it is part of; with
  // null after the data were replaced, and after they were opened again, which may have put other
  // data in their place.
  void OnChange(std::function<void(PartitionId, const LogEntry*)> on_change);
  // Starts the partitions' replicas, several at a time. One that does not open now is opened later.
  // REQUIRES: all methods and callbacks are registered; on a user-level thread.
  Status Open();

  // The data of a partition of this node; calls block the kernel thread, and are kUnavailable while
  // the replica is not open. Valid as long as this object. REQUIRES: Open succeeded.
  const StoreView& view(PartitionId partition) const;
  // True while this node leads the partition. REQUIRES: Open succeeded.
  bool IsPrimary(PartitionId partition) const;
  // For ServiceModule::Health.
  Status Health(PartitionId partition) const;
  // What the module makes of the data, e.g. an index, cannot be used, and why; OK: it can. Shown by
  // Health, on /readyz and on /statusz like a failure of the replica. REQUIRES: Open succeeded.
  void NoteUse(PartitionId partition, const Status& use);

 private:
  struct Partition;
  StatusOr<Partition*> Find(PartitionId partition) const;
  // Opens the partitions from `next` on, which several threads do together.
  Status OpenNext(size_t& next);
  Status OpenPartition(PartitionId partition);
  // Opens the partition's data; blocks.
  StatusOr<std::unique_ptr<ReplicatedState>> OpenState(PartitionId partition, Partition& kept);
  Status RunWrite(const MethodName& name, RequestContext& context, const Data& request,
                  Data* response);
  Status RunRead(const ReadFunction& function, RequestContext& context, const Data& request,
                 Data* response);
  // Calls `read` with a store whose calls wait in the device capsule.
  Status ReadOnDevice(Partition& kept, const ReplicaAgent& agent, const RequestContext& context,
                      const std::function<Status(const KeyValueStore&)>& read);
  static void Report(RequestContext& context, const ReplicaReport& report);

  ModuleContext& context_;
  Replication& replication_;
  const ServiceName service_;
  std::map<MethodName, WriteFunction> writes_;
  std::function<void(const LogEntry&)> before_write_;
  std::function<void(PartitionId, const LogEntry*)> on_change_;
  std::map<PartitionId, std::unique_ptr<Partition>> partitions_;  // fixed after Open
};

}  // namespace neptune
