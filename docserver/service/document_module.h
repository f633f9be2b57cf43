// Document servers as a service: titles, query-biased summaries and whole texts by document number.
//
// Parameters (cluster spec):
//   path            folder with one folder a partition, named by its number; relative to the base folder
//   implementation  variant of the registry: rocksdb (default) or flat_file
//   versions        list of the versions that are kept open (index/versions), relative to the base folder; `path` is then
//                   inside each version's folder. Not with live. Default: none, one version
//   live            `true`: documents change, by the write kChangeMethod (index/updates/change_write.h); needs a `replication`
//                   block. Default: false
//
// Reads of a store are shipped whole to the dependency capsule of its folder (disk:PATH/**), whose helper threads may
// wait for a disk; where no capsule takes the folder, the module makes one named after the service.
//
// A damaged document is answered as not found and counted; a store that cannot be opened is not announced.
//
// Source: [Chu03] 2.1 (document servers).
// Threads: methods run on any loop of the node; stores are thread-safe, snippet makers are a kernel
//   thread's own.

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
#include "neptune/replication/replicated_service.h"
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
    std::shared_ptr<const index::StoreReader> changes;  // of `store`, if documents change
  };
  // What is open of one version of the index.
  struct Version {
    std::map<neptune::PartitionId, Partition> partitions;  // fixed once opened
  };
  neptune::Status StartVersions(const neptune::ModuleContext& context, const std::string& list);
  // `status`: of the first partition that does not open; its reason is its state as well.
  std::shared_ptr<Version> OpenVersion(const index::IndexVersion& version, neptune::Status* status);
  neptune::Status Fetch(neptune::RequestContext& context, const neptune::Data& request,
                        neptune::Data* response);
  neptune::StatusOr<FetchedDocuments> Read(const neptune::RequestContext& context,
                                           const Partition& partition,
                                           const FetchRequest& request) const;
  neptune::Status FindUrls(neptune::RequestContext& context, const neptune::Data& request,
                           neptune::Data* response);
  // What `read` gives, in the device capsule of the partition's folder.
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
  // Of the node and its parameters: fixed after Start.
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
