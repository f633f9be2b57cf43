// Simulated nodes that run a replicated service, and user sessions that load it, which the repl_
// experiments share.
//
//   s0 ... s<n-1>   servers with replicas of `degree` / n of the partitions each
//   c0 ...          callers with many sessions
//   w               an optional witness
//
// A session sends about one request a second: a request uses the session that has been idle longest
// if that is at least a second, else a new one. The load is therefore open, and the number of
// sessions is about the number of requests a second.
//
// Source: [Shen02] 5.4 (set-up; "one request per second as the client request rate", 98 % within
//   two seconds).
// Threads: the simulation's thread; several runs may be in several threads.
// Units: virtual time; storage takes no time. The load's clock begins when RunReplicas is called.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/node/node.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {

// The paper's number of partitions.
inline constexpr uint32_t kReplicaPartitionCount = 64;

struct ReplicaClusterOptions {
  uint64_t seed = 1;
  int server_count = 8;
  int client_count = 6;
  // Replicas of each partition; 1: the service is not replicated.
  int degree = 1;
  // The consistency level of a replicated service, as in the cluster spec.
  std::string level = "ordered_writes";
  // For `staleness_bounded`.
  uint32_t staleness_ms = 1000;
  bool with_witness = false;
  // The replication mode, as in the cluster spec; not used by level 1.
  std::string mode = "safe";
  // Parameters of the service, in addition to its partition count.
  std::map<std::string, std::string> parameters{};
  std::function<std::unique_ptr<neptune::ServiceModule>()> module;
  // The processors of each server: one request at a time, to completion.
  neptune::ProcessorOptions processors = {.count = 1};
  // The papers' bound, the same for all schemes.
  uint32_t queue_length_max = 40;
};

neptune::ClusterSpec ReplicaClusterSpec(const ReplicaClusterOptions& options);

class ReplicaCluster {
 public:
  // Starts every node, and waits until all partitions have primaries.
  explicit ReplicaCluster(const ReplicaClusterOptions& options);
  ~ReplicaCluster();

  neptune::Simulator& simulator() { return nodes_.simulator(); }
  int client_count() const { return options_.client_count; }
  neptune::Node& client(int number);
  // Runs `body` on the first client until it ends.
  void RunOnClient(const std::function<void(neptune::ReplicaSession&)>& body);

 private:
  neptune::NodeOptions MakeOptions() const;

  const ReplicaClusterOptions options_;
  const neptune::ClusterSpec spec_;
  neptune::SimulatedNodes nodes_;
};

extern const neptune::ServiceName kReplicaService;

// The next call of a session.
struct ReplicaCall {
  neptune::PartitionId partition;
  neptune::MethodName method;
  neptune::AccessMode access = neptune::AccessMode::kRead;
  std::string request;
  // Called with the outcome, before the next call of the session; may be null.
  std::function<void(const neptune::Status& status, const neptune::Data& answer)> on_answer;
};

// One user.
struct ReplicaUser {
  explicit ReplicaUser(uint64_t number, neptune::ClientSession session)
      : number(number), session(std::move(session)) {}
  const uint64_t number;
  neptune::ReplicaSession session;
  neptune::TimePoint asked_at{};
  // The newest version of any answer, by partition.
  std::map<neptune::PartitionId, neptune::Lsn> versions;
  // Used by the workload to check what a session must never see.
  std::map<uint64_t, uint64_t> seen;
};

struct ReplicaLoadOptions {
  double rate_per_s = 100;
  // Requests that arrive within `duration` after `warm_up` are measured.
  neptune::Duration warm_up = std::chrono::seconds(3);
  neptune::Duration duration = std::chrono::seconds(10);
  // Requests that take longer count as failed.
  neptune::Duration timeout = std::chrono::seconds(2);
  // The load ends when a larger share of the measured requests has failed; 1: never.
  double failed_share_max = 1;
  // Returns the next call; uses only `random`, in the order of arrivals.
  std::function<ReplicaCall(ReplicaUser& user, neptune::RandomSource& random)> next;
};

struct ReplicaOutcome {
  neptune::Duration arrived{};  // on the load's clock
  neptune::Duration response{};
  bool is_write = false;
  neptune::Status status;
  neptune::Duration ended() const { return arrived + response; }
  // True if the service answered, even with an error, e.g. for a message that a replica does not
  // have yet.
  bool answered() const;
};

struct ReplicaRunResult {
  // The measured requests, in the order of completion.
  std::vector<ReplicaOutcome> outcomes;
  uint64_t offered_count = 0;
  uint64_t failed_count = 0;
  // The number of answers of an older version than the same session had seen.
  uint64_t regression_count = 0;
  bool was_ended_early = false;
  double InTimeShare() const;
};

ReplicaRunResult RunReplicas(ReplicaCluster& cluster, const ReplicaLoadOptions& load,
                             uint64_t seed);

// Runs a load at a given rate on a new cluster.
using RunAtRate = std::function<ReplicaRunResult(double rate_per_s, double failed_share_max)>;

// Searches the highest rate at which 98 % of the requests are answered within the timeout, by
// `steps` bisections between `low` and `high`. A `low` that is too high is first lowered by fifths.
struct RateSearch {
  double low = 0;
  double high = 0;
  int steps = 6;
};
double HighestReplicaRate(const RunAtRate& run, const RateSearch& search);

}  // namespace search::lab
