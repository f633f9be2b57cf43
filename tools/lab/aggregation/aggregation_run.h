// Simulated clusters that aggregate, and their load, which all dac_ experiments share.
//
//   s0 ... s<n-1>   servers with one partition each of the MICRO service
//   c0 ...          callers that offer aggregations over all partitions, open loop
//
// Every request carries the seed of its service times, so that all schemes under one seed get the
// same work at the same times.
//
// Source: [Chu03] 5.1 (workload, simulation model), 5.5 (quality-aware throughput).
// Threads: the simulation's thread; several clusters may run in several threads.
// Units: virtual time; the clock of load and scripts begins when RunAggregations is called.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro.pb.h"
#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"
#include "tools/lab/engine/experiment.h"
#include "tools/workload/script.h"

namespace neptune {
struct AggregatorOptions;
}

namespace search::lab {

// The minimum quality that one partition reaches; 0 would accept an empty answer.
inline constexpr double kAnyQuality = 1e-6;

// The times of a local operator and a reduction, on a processor of speed 1.
struct AggregationProfile {
  std::string name;
  double local_ms = 25;
  double reduce_ms = 5;
  // Log deviations of local times; both 0: exponential. See MicroRequest.
  double request_log_deviation = 0;
  double partition_log_deviation = 0;

  // The maximum rate of n nodes of k processors: nk / (ns + (n - 1) r).
  double IdealRate(int server_count, double processors) const;
  neptune::examples::MicroRequest RequestFor(uint64_t seed) const;
};

// The paper's profile: exponential 25 and 5 ms.
AggregationProfile MicroProfile();
// A model of the index: measured costs, scaled so that a dual node saturates just below 20 requests
// a second, as in the paper. Our measurements: 158 us for the mean "any of" query with both phases
// (index/core), 20 us for a merge of 100 hits into 100 (index/tier, root_reduction_benchmark); the
// best 100 of unions take 34 us at the median and 434 us at the 99th percentile
// (tools/bench_index), which is a log-normal with deviation 1.1 of the logarithm. Half of its
// variance is attributed to the query, half to the partition.
AggregationProfile RetProfile();
// "MICRO", "RET". REQUIRES: one of them.
AggregationProfile ProfileOf(const std::string& name);

// The source of the servers' loads at callers.
enum class LoadInformation {
  kAsIs,       // the runtime's: announcements, answers, polls, and loads relayed by polled servers
  kPolled,     // the paper's: announcements, and a few servers polled for each call
  kAnnounced,  // announcements only, which are stale
  kMeasured,   // the present pending work of every server, at no cost
};

// Speed of the 4 processors of the papers' quad node.
inline constexpr double kQuadSpeed = 1.25;

struct AggregationClusterOptions {
  uint64_t seed = 1;
  int server_count = 24;
  int client_count = 6;
  neptune::NetworkProfile network = neptune::kPaperCluster;
  // The processors of every node, callers included. A node runs as many requests at once as it has
  // processors: two queues of non-preemptive work, reductions before local operators.
  neptune::ProcessorOptions processors = {.count = 2};
  // Servers with other processors, by number.
  std::map<int, neptune::ProcessorOptions> other_processors{};
  // Concurrent requests of a server. Unset: its number of processors.
  std::optional<int> concurrency{};
  // The baseline without events; see waiting_thread.h.
  bool threads_wait = false;
  LoadInformation load_information = LoadInformation::kAsIs;
  uint32_t announce_interval_ms = 1000;
  // The papers' bound, the same for all schemes.
  uint32_t queue_length_max = 40;
};

class AggregationCluster {
 public:
  // Starts every node and waits until they have found each other.
  explicit AggregationCluster(const AggregationClusterOptions& options);
  ~AggregationCluster();

  neptune::Simulator& simulator() { return nodes_.simulator(); }
  int server_count() const { return options_.server_count; }
  int client_count() const { return options_.client_count; }
  // REQUIRES: it is up.
  neptune::Node& server(int number);
  neptune::Node& client(int number);
  // Processor time of all servers so far, in time of a processor of speed 1.
  neptune::Duration ServerTime();
  neptune::Duration ClientTime();

  // Schedules the events, whose times count from now: pause, resume, crash, restart and slow.
  // Errors: kInvalidArgument the script names an unknown node or another event.
  neptune::Status Schedule(const std::vector<workload::ScriptEvent>& script);

 private:
  neptune::NodeOptions OptionsOf(const std::string& name);
  neptune::ClusterSpec SpecFor(const std::string& name) const;
  neptune::ProcessorOptions ProcessorsOf(const std::string& name) const;
  // Gives callers the information about loads that the options ask for.
  void InformOfLoads(neptune::AggregatorOptions* options);
  neptune::Duration PendingOf(const neptune::NodeId& node) const;

  const AggregationClusterOptions options_;
  const neptune::ClusterSpec spec_;
  const neptune::ClusterSpec spec_without_nodes_;
  neptune::SimulatedNodes nodes_;
};

struct AggregationLoadOptions {
  AggregationProfile profile = MicroProfile();
  // Poisson arrivals of all callers together; each goes to a random caller.
  double rate_per_s = 10;
  // Requests that arrive within `duration` after `warm_up` are measured.
  neptune::Duration warm_up = std::chrono::seconds(5);
  neptune::Duration duration = std::chrono::seconds(20);
  // The papers' soft deadline.
  neptune::Duration timeout = std::chrono::seconds(2);
  // Results with fewer than all partitions count by their quality.
  double quality_min = kAnyQuality;
  neptune::TreeScheme scheme = neptune::TreeScheme::kLoadAdaptive;
  neptune::TimeoutPolicy timeouts = neptune::TimeoutPolicy::kStaged;
  // The interval of work after which a local operator checks for cancellation. 0: never.
  neptune::Duration slice{0};
  // The baseline without cancellation of calls that have failed: a call that misses partitions asks
  // the others all the same, and is judged by its guarantee at its end. Servers are asked to stop
  // only when a stage or the deadline ends.
  bool uncancelled = false;
};

// The arrival of a request on the load's clock, and its caller.
struct AggregationArrival {
  neptune::Duration at{};
  int client = 0;
};
// All arrivals of a load, warm-up included; a function of the seed.
std::vector<AggregationArrival> PlanArrivals(const AggregationLoadOptions& load, int client_count,
                                             uint64_t seed);

// The outcome of one request.
struct AggregationOutcome {
  neptune::Duration arrived{};  // on the load's clock
  neptune::Duration response{};
  neptune::StatusCode status = neptune::StatusCode::kOk;
  double quality = 0;        // of the answer; 0 without one
  neptune::Duration used{};  // processor time whose result is in the answer
  bool measured = false;

  bool full() const { return status == neptune::StatusCode::kOk && quality == 1; }
};

// Sends request `number` at time `at`, and waits for its end; the caller sets `arrived` and
// `measured`. Must be called on a user-level thread of the node.
AggregationOutcome MakeRequest(neptune::Node& node, const AggregationLoadOptions& load,
                               int server_count, uint64_t seed, uint64_t number,
                               neptune::TimePoint at);

// The spec of the cluster and its modules, for both worlds.
neptune::ClusterSpec AggregationSpec(const AggregationClusterOptions& options,
                                     const std::string& multicast_group);
neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeAggregationModule(
    const std::string& name);

struct AggregationRunResult {
  // In the order of completion.
  std::vector<AggregationOutcome> outcomes;
  neptune::Duration measured_for{};
  // Processor time from the first arrival to the end of the last request.
  neptune::Duration server_time{};
  neptune::Duration client_time{};

  // Figures of the measured requests. Response times are those of complete answers.
  double MeanMs() const;
  double PercentileMs(double fraction) const;
  double FullShare() const;
  double MeanQuality() const;
  // Complete answers a second, and all answers weighted by quality.
  double FullRate() const;
  double QualityRate() const;
  // Processor time of all requests, warm-up included, whose results are in answers.
  neptune::Duration AnsweredTime() const;
  // Quality-aware throughput a second, by window of the load's clock in which answers arrived.
  std::vector<double> QualitySeries(neptune::Duration window) const;
};

// Offers the load and waits for its end.
AggregationRunResult RunAggregations(AggregationCluster& cluster,
                                     const AggregationLoadOptions& load, uint64_t seed);

// response_ms_mean, response_ms_p99, full_percent, full_per_s, quality_per_s, server_busy_percent.
Measurement MeasureAggregations(const AggregationClusterOptions& cluster,
                                const AggregationLoadOptions& load, uint64_t seed);

}  // namespace search::lab
