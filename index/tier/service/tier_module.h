// The index tier as a service: opens its partitions and answers the local operator of a search.
//
// Parameters (cluster spec):
//   path            folder with one folder a partition, named by its number; relative to the base folder
//   implementation  variant of the registry; default: what the folder says it is
//   live_path       folder for the segments of documents that change, relative to the base folder; makes the partitions
//                   take changes (LivePartitions) and needs the variant `segment` and a `replication` block. Default: none
//   tier1_partitions, tier2_partitions, statistics_changed_share, statistics_period_ms, statistics_timeout_ms
//                   of tier 1, with live_path: see index/tier/statistics/statistics_renewal.h
//   second_phase_count_max
//                   most documents that a question may have rated by the second ranking phase, 0 (none)
//                   to 1000; default 1000: what the question asks for
//
// What a tier reads from a storage engine is shipped whole to the dependency capsule of its folder (disk:PATH/**), whose
// helper threads may wait for a disk; where no capsule takes the folder, the module makes one named after the service.
// Mapped files are read where they are: no capsule sees a page that is not there yet.
//
// A partition that is lost, damaged or of another variant is not announced and answers why; the others
// serve. So does one whose damage is found while it serves.
//
// Source: DAC 3.3, figure 5 (local and reduce operators). Layer: index/tier.
// Threads: methods run on any loop of the node; tiers are thread-safe.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "index/tier/index_tier.h"
#include "index/tier/service/live_partitions.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/service/service_module.h"

namespace search::index {

class TierModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override;
  std::string implementation() const override { return implementation_; }
  void Stop() override;

 private:
  struct Partition {
    neptune::Status status;  // of opening; OK: tier is set
    std::string path;
    std::unique_ptr<IndexTier> tier;
    std::atomic<bool> damaged{false};  // found while serving
  };
  static neptune::Status StateOf(const Partition& partition);
  std::unique_ptr<Partition> Open(const std::string& directory, const std::string& wanted);
  std::unique_ptr<Partition> OpenLive(neptune::PartitionId id, const std::string& directory);
  // Registers a method that answers with `work(tier, question, control)`.
  template <typename Question, typename Work>
  void AddMethod(neptune::ServiceRegistrar& registrar, const char* name, neptune::Grain grain,
                 Work work);
  // For what tiers read below `path`, if any of them reads a storage engine.
  void MakeCapsule(neptune::ModuleContext& context, const std::string& path);
  // What `work(tier, control)` gives, unless the partition is not served or turns out damaged.
  template <typename Work>
  neptune::Status Answer(neptune::RequestContext& context, const Work& work,
                         neptune::Data* response);
  // How a search of that partition for that request ends, and how it reads.
  TierSearchControl ControlOf(neptune::RequestContext& context, const Partition& partition) const;
  // The question with no more of a second phase than this node runs.
  TierQuery Limited(TierQuery query) const;
  neptune::Status AddStatus(neptune::ModuleContext& context);

  std::string implementation_ = "none";
  uint32_t second_phase_count_max_ = kTierHitCountMax;
  std::unique_ptr<LivePartitions> live_;  // null: documents do not change
  std::map<neptune::PartitionId, std::unique_ptr<Partition>> partitions_;  // fixed after Start
  neptune::CapsuleStack* capsules_ = nullptr;  // null: reads are made where they are asked for
  neptune::StatusSection section_;
};

}  // namespace search::index
