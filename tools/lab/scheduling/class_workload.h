// Requests of three service classes on whole nodes, and what they yield: what all sched_ experiments share.
//
//   Gold, Silver, Bronze: arrivals of their own ─► clients ─► any server, or those of their class ─► yield by response time
//
// Frozen for all of the chapter: servers of two processors with as many requests at work and queues of 40 for each class;
// poll 3, discarded after 10 ms; full yields of 4, 2 and 1, and the deadline of 2 s; what is hybrid is full until 1 s and half
// at the deadline. What would yield nothing is dropped under every policy. A class's server partition follows what came in the
// last 10 s, known without error.
//
// Source: [Shen02] 4.3 (server partitioning), 4.5.1 and figure 4.6 (workloads), 4.5.2 (demand, LossPercent).
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

// From `begin` to `end` on the load's clock this class asks for `factor` times as much.
struct ClassSurge {
  size_t service_class = 0;
  neptune::Duration begin{};
  neptune::Duration end{};
  double factor = 1;
};

struct ClassRun {
  std::string workload = "Differentiated Search";  // or "Micro-benchmark"
  std::string form = "hybrid";                     // or "throughput", "resptime"
  // In the cluster spec's words.
  std::string policy = "adaptive";
  // Of each class.
  double guarantee = 0;
  int server_count = 1;
  // Every class has servers of its own, divided anew every 10 s. Else all servers serve all classes.
  bool is_partitioned = false;
  // 1: the highest rate at which 95 % of the requests are answered within the deadline under edf.
  double demand = 1;
  // Gaps and times of service do not vary; a demand of 1 is then all that the processors can do.
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

// What became of one request that was measured.
struct ClassOutcome {
  size_t service_class = 0;
  neptune::Duration arrived{};  // on the load's clock
  neptune::Duration response{};
  bool in_time = false;  // answered, and within the deadline
  double yield = 0;
};

// In the order in which they ended.
std::vector<ClassOutcome> RunClasses(const ClassRun& run, uint64_t seed);

// A request's yield at once.
double FullYieldOf(size_t service_class);
// What a request of the class costs in the mean, in milliseconds of processor time.
double ServiceMeanOf(const std::string& workload, size_t service_class);

// "loss_percent" (LossPercent: of the yield that was offered) and "realized_percent", the rest; "completed_percent" in time,
// "response_ms" mean of the completed; of each class "Gold_completed_percent", "Gold_response_ms"; of Gold and Silver
// "high_completed_percent".
Measurement MeasureClasses(const ClassRun& run, uint64_t seed);

}  // namespace search::lab
