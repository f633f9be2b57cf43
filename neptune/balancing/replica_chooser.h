// The agent of load balancing: one for each loop that makes calls.
//
//   Choose ─► policy ─► the replica to call ─► Answered or Lost, once for each choice
//               ▲
//               └─ polls and probes (load_polling.h), announcements (yellow page), answers of calls
//
// Source: [Shen02] 2.2 (polling agent), 3.2, 3.3; probe_pool.h for the modern policy.
// Threads: the loop's own; Choose on a user-level thread (only poll waits there).
// Limits: at most kLoopPoolCountMax pools, of partitions in the view; replicas of further
//   partitions are chosen at random.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/balancing/probe_pool.h"
#include "neptune/balancing/replica_choice.h"
#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"

namespace neptune {

inline constexpr size_t kLoopPoolCountMax = 4096;

struct BalancingOptions {
  BalancingPolicy policy = BalancingPolicy::kPoll;
  PollingOptions polling;
  ProbePoolOptions probing;
  // Replaces the policy by one with global knowledge that no node has. For experiments only.
  std::function<size_t(const std::vector<Replica>&)> oracle;
};

// One choice, to be concluded exactly once.
struct ReplicaChoice {
  size_t index = 0;  // into the replicas given
  // Pool that records the choice; 0: none.
  uint32_t pool = 0;
  ProbePool::ServerId server = 0;
};

class ReplicaChooser {
 public:
  struct Environment {
    // Local address for polls and probes.
    Endpoint bind;
    // Network for polls and probes; must outlive the chooser. Null: the loop's own network.
    Network* network = nullptr;
    // Called with the call endpoint of a server that leaves polls without answers; may be null.
    std::function<void(const Endpoint&)> doubt;
    // Counts polls that ended before all had answered or one was idle; may be null.
    Counter* slow_polls = nullptr;
  };
  static StatusOr<std::unique_ptr<ReplicaChooser>> Open(Loop& loop, const BalancingOptions& options,
                                                        const Environment& environment);
  ~ReplicaChooser();

  // Returns the replica to call, none of `tried`; nullopt if all were tried.
  std::optional<ReplicaChoice> Choose(const ServiceName& service, PartitionId partition,
                                      const std::vector<Replica>& replicas,
                                      const std::vector<NodeId>& tried, TimePoint deadline);
  // The server answered with its load; `status` shows whether it did its work.
  void Answered(const ReplicaChoice& choice, uint32_t load_index, Duration run_time,
                const Status& status);
  // There was no answer. `failed`: as far as known, that is the server's fault.
  void Lost(const ReplicaChoice& choice, bool failed);

  void SetView(const std::shared_ptr<const YellowPageView>& view);

 private:
  using Key = std::pair<ServiceName, PartitionId>;
  struct Pool;

  ReplicaChooser(Loop& loop, const BalancingOptions& options, const Environment& environment);
  size_t ChooseByPoll(const std::vector<Replica>& replicas, const std::vector<size_t>& candidates,
                      TimePoint deadline);
  ReplicaChoice ChooseByPool(Pool& pool, const std::vector<Replica>& replicas,
                             const std::vector<size_t>& candidates);
  Pool* FindPool(const ServiceName& service, PartitionId partition,
                 const std::vector<Replica>& replicas);
  // Returns the pool and the server's index in it; null and 0 if either is gone.
  std::pair<Pool*, size_t> Locate(uint32_t pool, ProbePool::ServerId server) const;
  void Probe(Pool& pool, size_t server);
  void HandleReport(uint64_t cookie, const LoadReport& report);
  void KeepFresh(Pool& pool);

  Loop& loop_;
  const BalancingOptions options_;
  const Environment environment_;
  std::unique_ptr<PollingAgent> polling_;
  // Consecutive missed polls while another replica answered; only for nodes in the view.
  std::map<NodeId, int> missed_polls_;
  uint64_t round_ = 0;
  std::map<Key, std::unique_ptr<Pool>> pools_;
  std::map<uint32_t, Pool*> pool_of_number_;
  uint32_t next_pool_ = 1;
};

}  // namespace neptune
