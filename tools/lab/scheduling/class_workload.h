// Requests of three service classes on whole nodes, and their yields, which all sched_ experiments
// share.
//
//   Gold, Silver, Bronze: separate arrivals ─► clients ─► any server, or one of the class
//                                                          ─► yield by response time
//
// Frozen for the whole chapter: servers with two processors, two concurrent requests, and a queue
// of 40 for each class; poll 3, discarded after 10 ms; full yields of 4, 2 and 1, and a deadline of
// 2 s. Hybrid yields are full until 1 s and half at the deadline. Requests that would yield nothing
// are dropped under every policy. The server partition of a class follows the demand of the last 10
// s, known without error.
//
// Source: [Shen02] 4.3 (server partitioning), 4.5.1 and figure 4.6 (workloads), 4.5.2 (demand,
//   LossPercent).
// Threads: as SimCluster.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/lab/engine/results.h"
#include "tools/lab/kit/sim_cluster.h"
#include "tools/workload/script.h"

namespace search::lab {

inline constexpr const char* kClassNames[] = {"Gold", "Silver", "Bronze"};
inline constexpr size_t kClassCount = std::size(kClassNames);
inline constexpr int kClassProcessors = 2;  // of a server
inline constexpr double kYieldDeadlineMs = 2000;

// From `begin` to `end` on the load's clock the demand of this class is `factor` times as high.
struct ClassSurge {
  size_t service_class = 0;
  neptune::Duration begin{};
  neptune::Duration end{};
  double factor = 1;
};

struct ClassRun {
  std::string workload = "Differentiated Search";  // or "Micro-benchmark"
  std::string form = "hybrid";                     // or "throughput", "resptime"
  // A policy of the cluster spec.
  std::string policy = "adaptive";
  // Guaranteed share of each class.
  double guarantee = 0;
  int server_count = 1;
  // True: every class has its own servers, reassigned every 10 s. False: all servers serve all
  // classes.
  bool is_partitioned = false;
  // 1: the highest rate at which 95 % of the requests are answered within the deadline under edf.
  double demand = 1;
  // Constant gaps and service times; a demand of 1 is then the capacity of the processors.
  bool is_constant = false;
  std::vector<ClassSurge> surges = {};
  std::vector<workload::ScriptEvent> script = {};
  // Requests that arrive later than `warm_up` are measured; the load ends `length` after that.
  neptune::Duration warm_up = std::chrono::seconds(60);
  neptune::Duration length = std::chrono::seconds(100);
  // Called every `tick` of the load's clock.
  std::function<void(neptune::Duration at, SimCluster& cluster)> on_tick = nullptr;
  neptune::Duration tick = std::chrono::seconds(2);
};

// The outcome of one measured request.
struct ClassOutcome {
  size_t service_class = 0;
  neptune::Duration arrived{};  // on the load's clock
  neptune::Duration response{};
  bool in_time = false;  // answered, and within the deadline
  double yield = 0;
};

// Returns the outcomes in the order of completion.
std::vector<ClassOutcome> RunClasses(const ClassRun& run, uint64_t seed);

// The yield of a request that is answered at once.
double FullYieldOf(size_t service_class);
// Mean cost of a request of the class, in milliseconds of processor time.
double ServiceMeanOf(const std::string& workload, size_t service_class);

// Returns "loss_percent" (LossPercent of the offered yield) and "realized_percent", the rest;
// "completed_percent" in time and "response_ms", the mean of the completed; for each class
// "Gold_completed_percent", "Gold_response_ms"; for Gold and Silver together
// "high_completed_percent".
Measurement MeasureClasses(const ClassRun& run, uint64_t seed);

}  // namespace search::lab
