// Whole nodes on simulated hosts for experiments: servers of the work service, clients that load them.
//
// The nodes are those of the node program, from the same libneptune.so. Hosts are named s0, s1, ... and c0, c1, ...
//
// Threads: the simulation's thread; several clusters may run in several threads.
// Units: virtual time; the load's clock begins when RunLoad is called.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/world/sim/simulator.h"
#include "tools/workload/distribution.h"
#include "tools/workload/script.h"
#include "tools/workload/work_module.h"

namespace search::lab {

struct SimClusterOptions {
  uint64_t seed = 1;
  int server_count = 16;
  // The papers': "up to 6 client nodes".
  int client_count = 6;
  // Constant delays, as in the papers' simulators.
  neptune::NetworkProfile network = neptune::kPaperCluster;
  // One request at a time, to completion, as the dissertation's servers.
  neptune::ProcessorOptions processors = {.count = 1};
  // In the cluster spec's words; or "ideal": the servers' true queue lengths, calls on their way included, free of
  // cost. With servers of different speed it is the length over the speed that counts.
  std::string balancing = "poll";
  uint32_t poll_size = 3;
  uint32_t poll_discard_ms = 10;
  bool poll_waits_for_all = false;
  // Servers with slower processors: number and factor.
  std::map<int, double> slowness{};
  // The dissertation's profile of polls of busy servers (3.3.2): of the polls at 90 % load 8.1 % took more than 10 ms
  // and 5.6 % more than 20 ms. An exponential tail through both points, met by datagrams to servers that are busy.
  bool slow_datagrams = false;
  uint32_t announce_interval_ms = 1000;
  // The papers' bound, for every scheme.
  uint32_t queue_length_max = 40;
  // In the cluster spec's words, what stands in a service's time_limit; empty: none.
  std::string time_limit;
  // Further fields of the service, in the cluster spec's words.
  std::string service_fields;
  // Its service_classes, in the cluster spec's words; empty: none.
  std::string service_classes;
  // See WorkModule.
  double slice_ms = 0;
  // Servers that are not up at the beginning; a script's "restart" starts them.
  std::vector<std::string> absent{};
};

// The cluster that the options describe: servers of the work service, clients that host nothing of it.
neptune::ClusterSpec MakeClusterSpec(const SimClusterOptions& options);

class SimCluster {
 public:
  // Starts every node and lets them find each other.
  explicit SimCluster(const SimClusterOptions& options);
  ~SimCluster();

  neptune::Simulator& simulator() { return simulator_; }
  int server_count() const { return options_.server_count; }
  int client_count() const { return options_.client_count; }
  bool is_up(int server) const;
  // REQUIRES: it is up.
  neptune::Node& server(int number);
  neptune::Node& client(int number);
  // "s3"; -1 for a name that is no server's.
  static int ServerNumber(const neptune::NodeId& node);

  // For the ideal policy: a call to this server has ended.
  void Ended(int server) {
    if (server >= 0) --assigned_[static_cast<size_t>(server)];
  }

  // Makes the events happen, counted from now.
  neptune::Status Schedule(const std::vector<workload::ScriptEvent>& script);

 private:
  std::shared_ptr<void> Boot(const std::string& name, neptune::World& world);
  void Apply(const workload::ScriptEvent& event);
  neptune::Duration DatagramDelay(const std::string& host);
  size_t Ideal(const std::vector<neptune::Replica>& replicas);

  const SimClusterOptions options_;
  neptune::ClusterSpec spec_;
  std::map<std::string, std::weak_ptr<neptune::Node>> nodes_;
  std::map<std::string, std::shared_ptr<workload::Conduct>> conducts_;
  std::vector<int> assigned_;  // calls under way by server, for the ideal policy
  neptune::Simulator simulator_;
};

// A load that changes: as this one until `until` on the load's clock, as the next one after it.
struct LoadPhase {
  neptune::Duration until;
  workload::Distribution gap_ms = workload::Distribution::Exponential(1);
  workload::Distribution service_ms = workload::Distribution::Exponential(1);
  // This share of the requests costs something else.
  double other_share = 0;
  workload::Distribution other_service_ms = workload::Distribution::Exponential(1);
  // And this share costs the usual, and then waits so long as if for another node.
  double waiting_share = 0;
  workload::Distribution wait_ms = workload::Distribution::Exponential(1);
};

// Lets as many requests through as are answered in time: of each window, the mean response time decides whether the
// share that is let through grows by a step or shrinks by a factor.
//
// Source: [Zhou06] names the scheme (response time feedback, as SEDA). The form, additive increase and multiplicative
// decrease, is SEDA's.
struct ResponseAdmission {
  neptune::Duration target;
  neptune::Duration window = std::chrono::seconds(1);
  double step = 0.05;
  double factor = 0.8;
};

// An open-loop load: requests come when their time comes, whatever has become of the earlier ones.
struct SimLoadOptions {
  // Between arrivals of all clients together; each goes to a client drawn at random.
  workload::Distribution gap_ms = workload::Distribution::Exponential(1);
  workload::Distribution service_ms = workload::Distribution::Exponential(1);
  // Requests before those that are measured.
  uint64_t warm_up_count = 0;
  uint64_t count = 1;
  // If there are any, gaps and costs are theirs, and the load ends with the last one; nothing warms up.
  std::vector<LoadPhase> phases;
  std::optional<ResponseAdmission> admission;
  // How often a client that was not answered asks again at once, without a thought; what the runtime tries of its own is
  // besides.
  int stubborn_retry_count = 0;
  neptune::Duration timeout = std::chrono::seconds(30);
};

// What became of one measured request.
struct SimOutcome {
  neptune::TimePoint arrived;
  neptune::Duration cost{};  // what the request asked for
  neptune::Duration response{};
  neptune::StatusCode status = neptune::StatusCode::kOk;
  int server = -1;
  int attempts = 0;
  neptune::Duration wait{};  // and besides its cost
};

struct SimLoadResult {
  // In the order in which they ended.
  std::vector<SimOutcome> outcomes;
  neptune::TimePoint began;

  double MeanMs() const;  // of the requests answered OK
  double PercentileMs(double fraction) const;
  double LossPercent() const;
};

// Offers the load and waits for all of it. The service draws come from `seed` alone, so two clusters under one seed
// get the same requests at the same times.
SimLoadResult RunLoad(SimCluster& cluster, const SimLoadOptions& load, uint64_t seed);

}  // namespace search::lab
