// The policy probe_pool: the best candidate by recent probes and by the answers of our own calls.
//
// Source: probe_pool.h.
// Threads: the loop's own; Choose never parks.
// Limits: at most kLoopPoolCountMax pools, of partitions in the view; replicas of further
//   partitions are chosen at random.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/balancing/probe_pool.h"
#include "neptune/balancing/replica_policy.h"

namespace neptune {

inline constexpr size_t kLoopPoolCountMax = 4096;

class ProbePoolPolicy final : public ReplicaPolicy {
 public:
  // `polling` sends the probes, with records as cookies; it outlives this.
  ProbePoolPolicy(Loop& loop, const ProbePoolOptions& options, PollingAgent& polling);
  ~ProbePoolPolicy() override;

  ReplicaChoice Choose(const ReplicaQuestion& question) override;
  void Answered(uint64_t record, uint32_t load_index, Duration run_time,
                const Status& status) override;
  void Lost(uint64_t record, bool failed) override;
  void OnReport(uint64_t cookie, const LoadReport& report) override;
  void SetView(const YellowPageView& view) override;

 private:
  using Key = std::pair<ServiceName, PartitionId>;
  struct Pool;
  // A server of a pool; null: either is gone.
  struct Place {
    Pool* pool = nullptr;
    size_t server = 0;
  };

  Pool* FindPool(const ReplicaQuestion& question);
  Place Locate(uint64_t record) const;
  void Probe(Pool& pool, size_t server);
  void KeepFresh(Pool& pool);

  Loop& loop_;
  const ProbePoolOptions options_;
  PollingAgent& polling_;
  std::map<Key, std::unique_ptr<Pool>> pools_;
  std::map<uint32_t, Pool*> pool_of_number_;
  uint32_t next_pool_ = 1;
};

}  // namespace neptune
