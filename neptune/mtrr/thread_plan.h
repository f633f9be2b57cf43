// Allocates threads to classes such that the cost of the worst case is minimal.
//
// Worst case of a class: every other class is overloaded, and all their threads are busy. The
// response time of the class then depends on its own threads and on the total of the others, so for
// a given sum the best allocation is found by dynamic programming over the classes:
//
//   sum M:   class 1: cost(m), m = 1..M ─► with class 2 ─► ... ─► with class n: least cost over
//            m1 + ... + mn = M
//
// and the best sum is the cheapest of all.
//
// Source: [Jamjoom04] VI, (15), figure 6.
// Departs from source: threads may stay unused, because each one slows the classes that do not have
//   it.
// No I/O, no clock, no threads.
// Threads: pure functions.
// Units: seconds; costs are in the operator's unit.
// Errors: kInvalidArgument no class or too many, a duplicate class, invalid rates, fewer threads
//   than classes; kFailedPrecondition no allocation keeps every class's response time under its
//   limit: the message names the infeasible class, or says that there are too few threads for all.
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
  // Cost of a request as a function of its response time; must not decrease. Unset: the response
  // time in seconds.
  std::function<double(double response_s)> holding_cost;
  // Maximum mean response time in the worst case; unset: unlimited.
  std::optional<double> response_max_s;
};

// All classes run the same kind of requests; they differ in clients and rates.
struct PlanInput {
  std::vector<PlannedClass> classes;
  double service_rate = 0;
  Speedup speedup;
  // Total number of threads, including other_thread_count.
  int thread_count_max = 0;
  // Threads that belong to none of these classes; in the worst case they are busy too.
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
  int thread_count = 0;  // total over the classes
};

StatusOr<ThreadPlan> PlanThreads(const PlanInput& input);

}  // namespace neptune
