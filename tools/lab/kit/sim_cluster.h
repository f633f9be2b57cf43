// Whole nodes on simulated hosts for experiments: servers of the work service, clients that load
// them.
//
// The nodes are those of the node program, from the same libneptune.so. Hosts are named s0, s1, ...
// and c0, c1, ...
//
// Threads: the simulation's thread; several clusters may run in several threads.
// Units: virtual time; the load's clock begins when RunLoad is called.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"
#include "tools/workload/distribution.h"
#include "tools/workload/script.h"
#include "tools/workload/work_module.h"

namespace search::lab {

struct SimClusterOptions {
  uint64_t seed = 1;
  int server_count = 16;
  // The papers have "up to 6 client nodes".
  int client_count = 6;
  // Constant delays, as in the papers' simulators.
  neptune::NetworkProfile network = neptune::kPaperCluster;
  // One request at a time, to completion, like the servers of [Shen02].
  neptune::ProcessorOptions processors = {.count = 1};
  // A policy of the cluster spec; or "ideal", which knows the true queue lengths, calls in transit
  // included, at no cost. If servers differ in speed, it compares length divided by speed.
  std::string balancing = "poll";
  uint32_t poll_size = 3;
  uint32_t poll_discard_ms = 10;
  bool poll_waits_for_all = false;
  // Slowdown factors of servers with slower processors, by number.
  std::map<int, double> slowness{};
  // Models [Shen02]'s profile of polls of busy servers (3.3.2): at 90 % load 8.1 % of the polls
  // took more than 10 ms and 5.6 % more than 20 ms. Datagrams to busy servers get delays from an
  // exponential tail through both points.
  bool slow_datagrams = false;
  uint32_t announce_interval_ms = 1000;
  // The papers' bound, the same for all schemes.
  uint32_t queue_length_max = 40;
  // The service's time_limit block in cluster spec syntax; empty: none.
  std::string time_limit;
  // Further fields of the service, in cluster spec syntax.
  std::string service_fields;
  // Its service_classes, in cluster spec syntax; empty: none.
  std::string service_classes;
  // See WorkModule.
  double slice_ms = 0;
  // Servers that are down at the start; a "restart" event of the script starts them.
  std::vector<std::string> absent{};
};

// The spec of the cluster: servers of the work service, clients that host no service.
neptune::ClusterSpec MakeClusterSpec(const SimClusterOptions& options);

class SimCluster {
 public:
  // Starts every node and waits until they have found each other.
  explicit SimCluster(const SimClusterOptions& options);
  ~SimCluster();

  neptune::Simulator& simulator() { return nodes_.simulator(); }
  int server_count() const { return options_.server_count; }
  int client_count() const { return options_.client_count; }
  bool is_up(int server) const { return nodes_.lives(neptune::StrCat("s", server)); }
  // REQUIRES: it is up.
  neptune::Node& server(int number) { return nodes_.node(neptune::StrCat("s", number)); }
  neptune::Node& client(int number) { return nodes_.node(neptune::StrCat("c", number)); }
  // 3 for "s3"; -1 for other names.
  static int ServerNumber(const neptune::NodeId& node);

  // Reports to the ideal policy that a call to this server has ended.
  void Ended(int server) {
    if (server >= 0) --assigned_[static_cast<size_t>(server)];
  }

  // Schedules the events; their times count from now.
  neptune::Status Schedule(const std::vector<workload::ScriptEvent>& script);

 private:
  neptune::NodeOptions OptionsOf(const std::string& name);
  void Apply(const workload::ScriptEvent& event);
  neptune::Duration DatagramDelay(const std::string& host);
  size_t Ideal(const std::vector<neptune::Replica>& replicas);

  const SimClusterOptions options_;
  neptune::ClusterSpec spec_;
  std::map<std::string, std::shared_ptr<workload::Conduct>> conducts_;
  std::vector<int> assigned_;  // calls in progress by server, for the ideal policy
  neptune::SimulatedNodes nodes_;
};

// A phase of a changing load; lasts until `until` on the load's clock, then the next phase begins.
struct LoadPhase {
  neptune::Duration until;
  workload::Distribution gap_ms = workload::Distribution::Exponential(1);
  workload::Distribution service_ms = workload::Distribution::Exponential(1);
  // The share of the requests that cost `other_service_ms`.
  double other_share = 0;
  workload::Distribution other_service_ms = workload::Distribution::Exponential(1);
  // The share of the requests that cost `service_ms` and then wait `wait_ms`, as if for another
  // node.
  double waiting_share = 0;
  workload::Distribution wait_ms = workload::Distribution::Exponential(1);
};

// Admission control by response time feedback: the mean response time of each window decides
// whether the admitted share grows by a step or shrinks by a factor.
//
// Source: [Zhou06] names the scheme. The form, additive increase and multiplicative decrease, is
//   that of SEDA.
struct ResponseAdmission {
  neptune::Duration target;
  neptune::Duration window = std::chrono::seconds(1);
  double step = 0.05;
  double factor = 0.8;
};

// An open-loop load: requests arrive at given times, whatever the state of earlier ones.
struct SimLoadOptions {
  // Gaps between the arrivals of all clients together; each goes to a random client.
  workload::Distribution gap_ms = workload::Distribution::Exponential(1);
  workload::Distribution service_ms = workload::Distribution::Exponential(1);
  // The number of requests before the measured ones.
  uint64_t warm_up_count = 0;
  uint64_t count = 1;
  // If not empty, gaps and costs are those of the phases, the load ends with the last one, and
  // there is no warm-up.
  std::vector<LoadPhase> phases;
  std::optional<ResponseAdmission> admission;
  // How often a client retries an unanswered request at once, in addition to the retries of the
  // runtime.
  int stubborn_retry_count = 0;
  neptune::Duration timeout = std::chrono::seconds(30);
  // Processor time that a server spends on refusing a call, which the model of its network leaves
  // out. It is spent when the caller learns of the refusal, in the order of the server's work.
  neptune::Duration refusal_cost{0};
};

// The outcome of one measured request.
struct SimOutcome {
  neptune::TimePoint arrived;
  neptune::Duration cost{};  // its processor time
  neptune::Duration response{};
  neptune::StatusCode status = neptune::StatusCode::kOk;
  int server = -1;
  int attempts = 0;
  neptune::Duration wait{};  // its wait in addition to the cost
};

struct SimLoadResult {
  // In the order of completion.
  std::vector<SimOutcome> outcomes;
  neptune::TimePoint began;

  double MeanMs() const;  // over the requests answered OK
  double PercentileMs(double fraction) const;
  double LossPercent() const;
};

// Offers the load and waits for its end. All draws depend on `seed` alone, so that two clusters
// under one seed get the same requests at the same times.
SimLoadResult RunLoad(SimCluster& cluster, const SimLoadOptions& load, uint64_t seed);

}  // namespace search::lab
