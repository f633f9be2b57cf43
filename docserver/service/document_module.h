// Document servers as a service: titles, query-biased summaries and whole texts by document number.
//
// Parameters (cluster spec):
//   path            folder with one folder per partition, named by its number; relative to the base
//                   folder
//   implementation  variant of the registry: rocksdb (default) or flat_file
//   versions        list of the versions to keep open (index/versions), relative to the base
//                   folder; `path` is then inside each version's folder. Excludes live. Default:
//                   one version
//   live            `true`: documents change through the write kChangeMethod
//                   (index/updates/change_write.h); needs a `replication` block. Default: false
//
// Reads of a store run on the helper threads of the dependency capsule of its folder
// (disk:PATH/**), which may wait for a disk; if no capsule matches the folder, the module makes one
// named after the service.
//
// A damaged document is answered as not found and counted; a store that cannot be opened is not
// announced.
//
// Source: [Chu03] 2.1 (document servers).
// Threads: methods run on any loop of the node; stores are thread-safe, each kernel thread has its
//   own snippet maker.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "docserver/document_store.h"
#include "index/core/query/query.h"
#include "index/updates/change_write.h"
#include "index/versions/open_versions.h"
#include "index/versions/version_watch.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::docserver {

class DocumentModule final : public neptune::ServiceModule {
 public:
  ~DocumentModule() override {
    if (watch_ != nullptr) watch_->Stop();
  }
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override;
  std::string implementation() const override { return implementation_; }
  void Stop() override;

 private:
  struct Partition {
    neptune::Status status;  // OK: store is set
    std::string path;
    std::shared_ptr<const DocumentStore> store;         // a read may outlive its request
    std::shared_ptr<const index::StoreReader> changes;  // set if documents change; `store` reads it
  };
  // The open partitions of one version of the index.
  struct Version {
    std::map<neptune::PartitionId, Partition> partitions;  // fixed once opened
  };
  neptune::Status StartVersions(const neptune::ModuleContext& context, const std::string& list);
  // `status` is set to the error of the first partition that cannot be opened; each partition also
  // keeps its own status.
  std::shared_ptr<Version> OpenVersion(const index::IndexVersion& version, neptune::Status* status);
  neptune::Status Fetch(neptune::RequestContext& context, const neptune::Data& request,
                        neptune::Data* response);
  neptune::StatusOr<FetchedDocuments> Read(const neptune::RequestContext& context,
                                           const Partition& partition,
                                           const FetchRequest& request) const;
  neptune::Status FindUrls(neptune::RequestContext& context, const neptune::Data& request,
                           neptune::Data* response);
  // Runs `read` in the device capsule of the partition's folder and returns its result.
  template <typename ReadCall>
  auto ReadOnDevice(const neptune::RequestContext& context, const Partition& partition,
                    ReadCall read) const -> decltype(read());
  static neptune::StatusOr<const Partition*> Served(const Version& version,
                                                    neptune::PartitionId id);
  neptune::Status OpenReplicas(neptune::ModuleContext& context);
  Partition Open(neptune::PartitionId id, const std::string& path) const;
  neptune::Status AddStatus(neptune::ModuleContext& context);

  std::string implementation_ = "rocksdb";
  std::unique_ptr<neptune::ReplicatedService> replicas_;  // null: documents do not change
  // Set by Start from the node and the parameters, then constant.
  std::string service_;
  std::string base_directory_;
  std::string path_;
  std::vector<neptune::PartitionId> ids_;
  index::OpenVersions<Version> versions_;
  std::shared_ptr<index::VersionWatch> watch_;  // null: one version
  neptune::CapsuleStack* capsules_ = nullptr;
  neptune::Counter* damaged_ = nullptr;
  neptune::StatusSection section_;
  neptune::StatusSection version_section_;
};

}  // namespace search::docserver
