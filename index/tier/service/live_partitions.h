// The partitions of an index tier whose documents change: their replicated data, their live tiers,
// the loop that refreshes them, and the agent that renews the statistics of the collection.
//
// Source: neptune/replication.
// Threads: Start, Open and Stop on the node's main thread, methods and changes on any.
// Shapes: the write kChangeMethod takes a PartitionChange and returns a ChangeAnswer; the read
//   kHoldsMethod takes a HoldsQuery and returns a HoldsAnswer; methods of index/tier/statistics as
//   in statistics_messages.h.
// Limits: counts one partition's changed terms at a time, on a loop of low priority, on which
//   tiers that did not open at once are opened as well.
// Errors: those of LiveTier::Open are retried (index/versions/reopening.h); a partition that is not
//   open answers UNAVAILABLE.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "index/tier/live/live_maintenance.h"
#include "index/tier/live/live_tier.h"
#include "index/tier/live/merge_record.h"
#include "index/tier/service/served_tier.h"
#include "index/tier/statistics/statistics_renewal.h"
#include "index/updates/change_write.h"
#include "index/versions/reopening.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::index {

class LivePartitions {
 public:
  // Starts the partitions' replicas; the service needs a `replication` block in the cluster spec.
  static neptune::StatusOr<std::unique_ptr<LivePartitions>> Start(
      neptune::ModuleContext& context, std::string working_directory,
      const StatisticsRenewalOptions& statistics);
  ~LivePartitions();

  // Opens the live tier over the published partition in `directory` and hands it to `served`, which
  // is kept until Stop returned. A tier that does not open now, e.g. because its data are not open,
  // is opened later; `served` says why it is not, and so do /readyz and /statusz.
  void Open(neptune::PartitionId partition, const std::string& directory, ServedTier* served);
  // Builds the partition's tier again from its files and its data, on the loop that counts, until
  // it succeeds; then calls `done`, unless Stop came before. Any thread; never waits.
  void Mend(neptune::PartitionId partition, const neptune::Status& damage,
            std::function<void()> done);
  // Changes become searchable from now on, and statistics are renewed where this node leads.
  neptune::Status StartMaintenance();
  neptune::Status Health(neptune::PartitionId partition) const;
  // After it no tier is accessed any more.
  void Stop();

 private:
  struct Slot {
    std::unique_ptr<StoreReader> reader;
    neptune::LeafMutex mutex;
    LiveTier* tier ABSL_GUARDED_BY(mutex) = nullptr;
    // True if the partition changed while its tier was being opened.
    bool is_missed ABSL_GUARDED_BY(mutex) = false;
    std::atomic<bool> is_counting = false;
    std::unique_ptr<MergeRecord> merges;  // fixed by Start
  };

  LivePartitions(neptune::ModuleContext& context, std::string working_directory,
                 const StatisticsRenewalOptions& statistics)
      : context_(context),
        working_directory_(std::move(working_directory)),
        statistics_(statistics),
        service_(context) {}

  neptune::Status TryOpen(neptune::PartitionId partition, const std::string& directory,
                          ServedTier* served);
  void OnChange(neptune::PartitionId partition, const neptune::LogEntry* entry);
  void AddMethods();
  // UNAVAILABLE if the partition is not open. The result is valid until Stop, like the methods.
  neptune::StatusOr<LiveTier*> TierOf(neptune::PartitionId partition);
  neptune::Status Holds(neptune::PartitionId partition, const neptune::Data& request,
                        neptune::Data* response);
  neptune::Status TellState(neptune::PartitionId partition, const neptune::StoreView& store,
                            neptune::Data* response);
  neptune::Status SendChangedTerms(neptune::PartitionId partition, neptune::ServerStream& stream);
  neptune::Status TellFrequencies(neptune::PartitionId partition, const neptune::Data& request,
                                  neptune::Data* response);
  neptune::Status StartRenewal();
  void DescribeMerges(neptune::StatusReport* report) const;

  neptune::ModuleContext& context_;
  const std::string working_directory_;
  const StatisticsRenewalOptions statistics_;
  std::map<neptune::PartitionId, Slot> slots_;  // fixed by Start
  neptune::LeafMutex maintenance_mutex_;
  std::shared_ptr<LiveMaintenance> maintenance_ ABSL_GUARDED_BY(maintenance_mutex_);
  neptune::Loop* counting_loop_ = nullptr;
  std::shared_ptr<Reopening> reopening_;  // fixed by Start
  // Null: this node never leads, or renewal is disabled.
  std::unique_ptr<StatisticsRenewal> renewal_;
  neptune::ReplicatedService service_;
  neptune::StatusSection section_;
};

}  // namespace search::index
