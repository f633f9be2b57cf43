// The index tier as a service: opens its partitions and runs the local operator of a search.
//
// Versions, missing and damaged partitions: index/versions/versioned_partitions.h. A tier's whole
// read of a storage engine runs in the capsule that is described there; mapped files are read on
// the calling thread, because page faults are invisible to capsules. Searches that read many
// postings let shorter ones go first at their stop checks (RequestContext::GiveWay).
//
// Source: [Chu03] 3.3, figure 5 (local and reduce operators).
// Threads: methods run on any loop of the node; tiers are thread-safe.

#pragma once

#include <memory>
#include <string>

#include "index/tier/index_tier.h"
#include "index/tier/service/live_partitions.h"
#include "index/tier/service/partition_copies.h"
#include "index/tier/service/served_tier.h"
#include "index/tier/titles/title_table.h"
#include "index/versions/versioned_partitions.h"
#include "neptune/service/service_module.h"

namespace search::index {

class TierModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override;
  std::string implementation() const override { return implementation_; }
  void Stop() override;

 private:
  struct Partition {
    std::string path;
    ServedTier served;
    std::unique_ptr<const TitleTable> titles;  // null: the index has none, or documents change

    neptune::Status State() const { return served.State(); }
    void NoteFailure(const neptune::Status& why) { served.NoteFailure(why); }
    bool NoteDamage(const neptune::Status& damage) { return served.NoteDamage(damage); }
    FileChecks::Check StartCheck() const;
    bool WaitsForDisk() const {
      return served.tier() != nullptr && served.tier()->Info().reads_store;
    }
    PartitionFacts Facts(uint64_t version) const;
  };
  std::unique_ptr<Partition> Open(neptune::PartitionId id, const std::string& directory) const;
  neptune::StatusOr<std::unique_ptr<IndexTier>> OpenTier(const std::string& directory) const;
  neptune::Status OpenStatic(const std::string& directory, Partition* partition) const;
  void AddMethods(neptune::ServiceRegistrar& registrar);
  // Registers a method that answers with `work(partition, message, control)`.
  template <typename Message, typename Work>
  void AddMethod(neptune::ServiceRegistrar& registrar, const char* name, neptune::Grain grain,
                 Work work);
  // Returns the result of `work(partition, control)`, or an error if the partition is not served or
  // turns out damaged, which withdraws it.
  template <typename Work>
  neptune::Status Answer(neptune::RequestContext& context, uint64_t version, const Work& work,
                         neptune::Data* response);
  // Stop conditions, turns and reads of a search of that partition for that request.
  TierSearchControl ControlOf(neptune::RequestContext& context, const Partition& partition) const;
  static neptune::StatusOr<TierAnswer> Search(const Partition& partition, const TierQuery& query,
                                              const TierSearchControl& control);
  void NoteDamage(neptune::PartitionId id, const std::shared_ptr<Partition>& partition,
                  const neptune::Status& damage);
  static neptune::StatusOr<TitlesAnswer> Titles(const Partition& partition,
                                                const TitlesQuery& query);
  // The query with its second phase limited to what this node allows.
  TierQuery Limited(TierQuery query) const;

  // Files of damaged partitions will be copied from other replicas.
  neptune::Status PrepareCopies(neptune::ModuleContext& context);
  // OK if the folder holds a partition of that version of the index.
  neptune::Status CheckFolder(const std::string& directory, uint64_t index_version) const;
  neptune::Status Files(neptune::RequestContext& context, const neptune::Data& request,
                        neptune::Data* response);

  // Parameters, fixed before Start.
  std::string wanted_;     // variant; empty: what the folder holds
  std::string live_path_;  // empty: documents do not change
  StatisticsRenewalOptions statistics_;
  uint32_t second_phase_count_max_ = kTierHitCountMax;
  bool copies_from_replicas_ = false;

  std::string implementation_ = "none";      // fixed after Start
  std::unique_ptr<LivePartitions> live_;     // null: documents do not change
  std::unique_ptr<PartitionCopies> copies_;  // null: nothing is copied
  VersionedPartitions<Partition> partitions_;
};

}  // namespace search::index
