// Measures throughput over threads on a running service, the input of a profile.
//
//   for each repetition, for m = 1, 2, 4, ... : threads set to m ─► closed loop of m ─► warm-up ─► counted
//   and at the end: threads as they were
//
// Source: [Jamjoom04] II.
// Threads: blocks the calling thread, which must not run a loop.
// Errors: those of node_admin.h; kUnavailable the load's server cannot be reached, or more than a
//   hundredth of the requests failed; kFailedPrecondition no request was answered; kCancelled
//   stopped by the caller.
// Limits: kProfileThreadCountMax threads.

#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/world.h"
#include "tools/mtrr/node_admin.h"
#include "tools/mtrr/service_profile.h"
#include "tools/replay/replay_plan.h"
#include "tools/replay/target_address.h"

namespace search::tools {

inline constexpr int kProfileThreadCountMax = 256;

struct ProfileOptions {
  std::string service;
  // The class for which threads are varied; empty: the whole service.
  std::string service_class;
  std::vector<int> thread_counts;
  // Outstanding requests for each thread of a node. More than 1 keeps a thread busy while answers
  // are in transit. Default: 2.
  double requests_per_thread = 2;
  double warm_up_s = 1;
  double length_s = 5;
  int repetition_count = 3;
  // Target of the requests.
  TargetAddress target;
  TargetOptions target_options;
  // Set to true by the caller to stop; the thread settings are then restored as well. May be null.
  const std::atomic<bool>* stop = nullptr;
};

// Called after each measurement.
using ReportPoint = std::function<void(int repetition, int threads, double throughput)>;

// REQUIRES: the plan's requests belong to the profiled class.
neptune::StatusOr<ServiceProfile> MeasureProfile(neptune::Loop& loop, const AdminAccess& access,
                                                 const ReplayPlan& plan,
                                                 const ProfileOptions& options,
                                                 const ReportPoint& report);

// A plan that repeats these queries for the class, with enough requests for every thread.
ReplayPlan PlanOfQueries(std::vector<std::string> queries, const std::string& service_class);

}  // namespace search::tools
