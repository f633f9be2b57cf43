// Reads the request for a plan, and the profiles that it names.
//
// Source: [Jamjoom04] VI (holding costs, worst-case limits).
// Threads: pure, except for reading files.
// Errors: kInvalidArgument with file, line and reason; kNotFound a file is missing.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/class_kinds.h"
#include "neptune/mtrr/thread_plan.h"
#include "tools/mtrr/service_profile.h"

namespace search::tools {

struct AskedPlan {
  std::string service;
  neptune::PlanInput input;
  // Kinds of the classes, in the order of the classes.
  std::vector<neptune::ClassKind> kinds;
  // Mean processor time of a request of the kind used for planning.
  std::optional<double> processor_s;
};

// Returns the contents of a profile by its path in the text.
using ReadProfile = std::function<neptune::StatusOr<ServiceProfile>(const std::string& path)>;

// Classes whose profiles differ are planned with the slowest one: the plan is then conservative,
// although it cannot guarantee anything (see DifferentKinds).
neptune::StatusOr<AskedPlan> ParseThreadRequest(std::string_view text, std::string_view file,
                                                const ReadProfile& read_profile);

// The same, reading from files.
neptune::StatusOr<AskedPlan> LoadThreadRequest(const std::string& path);

}  // namespace search::tools
