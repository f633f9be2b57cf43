// An allocation of threads to classes and its operating point, stored as a JSON file.
//
// Source: [Jamjoom04] VI.
// Threads: pure functions.
// Errors: kInvalidArgument the text is not a plan.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/saturation_monitor.h"
#include "tools/mtrr/service_state.h"
#include "tools/mtrr/thread_request.h"

namespace search::tools {

struct AllocatedClass {
  neptune::WatchedClass watched;
  // Worst mean response time, reached while every other class is overloaded.
  double worst_response_s = 0;
  double worst_loss_share = 0;
  double cost = 0;
};

struct Allocation {
  std::string service;
  int other_thread_count = 0;
  double service_rate = 0;
  neptune::Speedup speedup;
  std::optional<double> processor_s;
  std::vector<AllocatedClass> classes;
  double cost = 0;
  // Limits of the plan's guarantees, as text.
  std::vector<std::string> warnings;
};

Allocation AllocationOf(const AskedPlan& asked, const neptune::ThreadPlan& plan);

std::string AllocationJson(const Allocation& allocation);
// `name` is used in messages.
neptune::StatusOr<Allocation> ParseAllocation(std::string_view json, std::string_view name);

// Returns a table, followed by the warnings.
std::string AllocationText(const Allocation& allocation);

// The thread settings to send to the nodes.
ThreadSettings SettingsOf(const Allocation& allocation);
neptune::OperatingPoint OperatingPointOf(const Allocation& allocation);

}  // namespace search::tools
