// Measures throughput over threads on a running service: what a profile is made of.
//
//   for each repetition, for m = 1, 2, 4, ... : threads set to m ─► closed loop of m ─► warm-up ─► counted
//   and at the end: threads as they were
//
// Source: [Jamjoom04] II.
// Threads: blocks the calling thread, which is no loop's.
// Errors: those of node_admin.h; kUnavailable the load's server cannot be reached, or more than a
//   hundredth of the requests failed; kFailedPrecondition nothing was answered; kCancelled it was
//   stopped.
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
  // Requests under way for each thread of a node. More than 1 keeps a thread busy while answers
  // travel. Default: 2.
  double requests_per_thread = 2;
  double warm_up_s = 1;
  double length_s = 5;
  int repetition_count = 3;
  // Target of the requests.
  TargetAddress target;
  TargetOptions target_options;
  // Becomes true when the caller wants it to end; the threads are then put back as well. May be
  // null.
  const std::atomic<bool>* stop = nullptr;
};

// Tells of each measurement as it ends.
using TellPoint = std::function<void(int repetition, int threads, double throughput)>;

// REQUIRES: the plan's requests are of the class.
neptune::StatusOr<ServiceProfile> MeasureProfile(neptune::Loop& loop, const AdminAccess& access,
                                                 const ReplayPlan& plan,
                                                 const ProfileOptions& options,
                                                 const TellPoint& tell);

// Requests that ask for these, over and over, in the name of the class; enough of them for every
// thread.
ReplayPlan PlanOfQueries(std::vector<std::string> queries, const std::string& service_class);

}  // namespace search::tools
