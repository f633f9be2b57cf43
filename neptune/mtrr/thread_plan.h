// How many threads each class gets, so that the cost of the worst case is least.
//
// The worst case of a class: every other one is overloaded, and all their threads are busy. Its response time then
// depends on its own threads and on how many the others have together, so that for a given sum the best allocation is
// found class by class:
//
//   sum M:   class 1: cost(m), m = 1..M ─► with class 2 ─► ... ─► with class n: least cost over m1 + ... + mn = M
//
// and the best sum is the cheapest of all.
//
// Source: [Jamjoom04] VI, (15), figure 6.
// Departs from source: threads may be left out, for each of them slows the classes that do not have it.
// No I/O, no clock, no threads.
// Threads: pure functions.
// Units: seconds; costs are the operator's unit.
// Errors: kInvalidArgument no class or too many, a class twice, numbers that are no rates, fewer threads than classes;
//   kFailedPrecondition no allocation keeps every class's response time under its limit: it names the class that cannot
//   be, or says that there are too few threads for all.
// Limits: kPlannedClassCountMax classes, kPlannedThreadCountMax threads; O(classes * threads^3).

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/response_model.h"

namespace neptune {

inline constexpr size_t kPlannedClassCountMax = 16;
inline constexpr int kPlannedThreadCountMax = 256;

struct PlannedClass {
  std::string name;
  double arrival_rate = 0;
  int queue_length_max = 0;
  // Cost of a request by its response time; never falls. Absent: its seconds.
  std::function<double(double response_s)> holding_cost;
  // The longest mean response that is allowed in the worst case; absent: any.
  std::optional<double> response_max_s;
};

// The workload is the same for all classes, they differ in who asks and how often.
struct PlanInput {
  std::vector<PlannedClass> classes;
  double service_rate = 0;
  Speedup speedup;
  // Of all classes together, and of the threads that none of these has.
  int thread_count_max = 0;
  // Threads beside these classes: in their worst case they are busy too.
  int other_thread_count = 0;
};

struct PlannedThreads {
  std::string name;
  int thread_count = 0;
  ResponseModel worst_case;
  double cost = 0;
};

struct ThreadPlan {
  std::vector<PlannedThreads> classes;  // in the input's order
  double cost = 0;
  int thread_count = 0;  // of the classes
};

StatusOr<ThreadPlan> PlanThreads(const PlanInput& input);

}  // namespace neptune
