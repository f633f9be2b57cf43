// Document servers as a service: titles, query-biased summaries and whole texts by document number.
//
// Versions, missing and damaged partitions, and the capsule in which reads of a store run:
// index/versions/versioned_partitions.h. A damaged document is answered as not found and counted.
//
// Source: [Chu03] 2.1 (document servers).
// Threads: methods run on any loop of the node; stores are thread-safe, each kernel thread has its
//   own snippet maker.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "docserver/document_store.h"
#include "docserver/snippet/query_terms.h"
#include "index/updates/change_write.h"
#include "index/versions/partition_state.h"
#include "index/versions/versioned_partitions.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::docserver {

class DocumentModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override;
  std::string implementation() const override { return implementation_; }
  void Stop() override;

 private:
  struct Partition {
    index::PartitionState state;  // served: store is set
    std::string path;
    std::string folder_state;  // when it was opened
    // Set by a read that met a damaged document, cleared by the request that looks at the folder.
    std::shared_ptr<std::atomic<bool>> has_met_damage = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<const DocumentStore> store;         // a read may outlive its request
    std::shared_ptr<const index::StoreReader> changes;  // set if documents change; `store` reads it
    std::string implementation;

    neptune::Status State() const { return state.Get(); }
    void NoteFailure(const neptune::Status& why) { state.NoteFailure(why); }
    bool NoteDamage(const neptune::Status& damage) { return state.NoteDamage(damage); }
    bool WaitsForDisk() const { return true; }
    // Stores check what they read each time.
    index::FileChecks::Check StartCheck() const { return nullptr; }
    index::PartitionFacts Facts(uint64_t version) const;
  };
  neptune::Status Fetch(neptune::RequestContext& context, const neptune::Data& request,
                        neptune::Data* response);
  // Answers from documents that were read.
  neptune::Status Answer(neptune::RequestContext& context, const FetchRequest& asked,
                         const Partition& partition, neptune::Data* response);
  // What a request of the partition returns that ended with `status`. A store whose files were
  // changed meanwhile is withdrawn, and its answer UNAVAILABLE, so that another replica is asked.
  // So is one with damaged documents in whose folder other files are now: while it is open it would
  // read the old ones.
  neptune::Status Checked(neptune::PartitionId id, const std::shared_ptr<Partition>& partition,
                          const neptune::Status& status);
  neptune::StatusOr<FetchedDocuments> Read(const neptune::RequestContext& context,
                                           const Partition& partition, std::vector<uint64_t> ids,
                                           size_t text_size_max) const;
  // Makes a summary's snippet again, from as much of the text as snippets may need.
  neptune::Status RemakeSnippet(const neptune::RequestContext& context, const Partition& partition,
                                const FetchRequest& request, const QueryTerms& query,
                                Summary* summary) const;
  neptune::Status FindUrls(neptune::RequestContext& context, const neptune::Data& request,
                           neptune::Data* response);
  // Runs `read` in the device capsule of the partition's folder and returns its result.
  template <typename ReadCall>
  auto ReadOnDevice(const neptune::RequestContext& context, const Partition& partition,
                    ReadCall read) const -> decltype(read());
  neptune::Status OpenReplicas(neptune::ModuleContext& context);
  std::unique_ptr<Partition> Open(neptune::PartitionId id, const std::string& directory) const;

  // Parameters, fixed before Start.
  std::string implementation_ = "rocksdb";
  bool live_ = false;  // documents change

  std::unique_ptr<neptune::ReplicatedService> replicas_;  // null: documents do not change
  index::VersionedPartitions<Partition> partitions_;
  neptune::Counter* damaged_ = nullptr;
};

}  // namespace search::docserver
