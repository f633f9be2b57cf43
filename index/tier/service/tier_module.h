// The index tier as a service: opens its partitions and runs the local operator of a search.
//
// Parameters (cluster spec):
//   path            folder with one folder per partition, named by its number; relative to the base
//                   folder
//   implementation  variant of the registry; default: the one recorded in the folder
//   live_path       folder for segments of changed documents, relative to the base folder; makes
//                   the partitions accept changes (LivePartitions); requires the variant `segment`
//                   and a `replication` block. Default: none
//   versions        list of the versions that are kept open (index/versions), relative to the base
//                   folder; `path` is then inside each version's folder. Not with live_path.
//                   Default: none, one version
//   tier1_partitions, tier2_partitions, statistics_changed_share, statistics_period_ms,
//   statistics_timeout_ms
//                   for tier 1, with live_path: see index/tier/statistics/statistics_renewal.h
//   second_phase_count_max
//                   maximal number of documents that the second ranking phase rates per query, 0
//                   (none) to 1000; default 1000, so that the query decides
//
// A tier's whole read of a storage engine runs in the dependency capsule of its folder
// (disk:PATH/**), whose helper threads may wait for a disk; if no capsule covers the folder, the
// module creates one named after the service. Mapped files are read on the calling thread: page
// faults are invisible to capsules.
//
// A partition that is missing, damaged or of another variant is not announced and answers with the
// reason; the others are served. The same holds for a partition that is found damaged while it is
// served.
//
// Source: [Chu03] 3.3, figure 5 (local and reduce operators).
// Threads: methods run on any loop of the node; tiers are thread-safe.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "index/tier/index_tier.h"
#include "index/tier/service/live_partitions.h"
#include "index/versions/open_versions.h"
#include "index/versions/version_watch.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/service/service_module.h"

namespace search::index {

class TierModule final : public neptune::ServiceModule {
 public:
  ~TierModule() override {
    if (watch_ != nullptr) watch_->Stop();
  }
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override;
  std::string implementation() const override { return implementation_; }
  void Stop() override;

 private:
  struct Partition {
    neptune::Status status;  // result of opening; OK: tier is set
    std::string path;
    std::unique_ptr<IndexTier> tier;
    std::atomic<bool> damaged{false};  // detected while serving
  };
  // The open partitions of one version of the index.
  struct Version {
    std::map<neptune::PartitionId, std::unique_ptr<Partition>> partitions;  // fixed once opened
  };
  static neptune::Status StateOf(const Partition& partition);
  neptune::Status StartVersions(const neptune::ModuleContext& context, const std::string& list);
  // `status`: the error of the first partition that does not open; it is also that partition's
  // state.
  std::shared_ptr<Version> OpenVersion(const IndexVersion& version, neptune::Status* status);
  std::unique_ptr<Partition> Open(const std::string& directory) const;
  std::unique_ptr<Partition> OpenLive(neptune::PartitionId id, const std::string& directory);
  // Registers a method that answers with `work(tier, question, control)`.
  template <typename Question, typename Work>
  void AddMethod(neptune::ServiceRegistrar& registrar, const char* name, neptune::Grain grain,
                 Work work);
  // Creates the capsule for reads below `path`, if any of the tiers reads a storage engine.
  void MakeCapsule(const Version& version, const std::string& name, const std::string& path) const;
  // Returns the result of `work(tier, control)`, or an error if the partition is not served or
  // turns out damaged.
  template <typename Work>
  neptune::Status Answer(neptune::RequestContext& context, uint64_t version, const Work& work,
                         neptune::Data* response);
  // Stop conditions and reads of a search of that partition for that request.
  TierSearchControl ControlOf(neptune::RequestContext& context, const Partition& partition) const;
  // The question with its second phase limited to what this node allows.
  TierQuery Limited(TierQuery query) const;
  neptune::Status AddStatus(neptune::ModuleContext& context);

  std::string implementation_ = "none";  // fixed after Start
  // From the node and its parameters; fixed after Start.
  std::string service_;
  std::string base_directory_;
  std::string path_;
  std::string wanted_;
  std::vector<neptune::PartitionId> ids_;
  neptune::CapsuleStack* capsules_ = nullptr;  // null: reads run on the calling thread
  uint32_t second_phase_count_max_ = kTierHitCountMax;
  std::unique_ptr<LivePartitions> live_;  // null: documents do not change
  OpenVersions<Version> versions_;
  std::shared_ptr<VersionWatch> watch_;  // null: one version
  neptune::StatusSection section_;
  neptune::StatusSection version_section_;
};

}  // namespace search::index
