// Histories of something that only grows: appends that may know their place, and reads of all that
// is there.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "tools/history/linearizability.h"

namespace search::history {

struct LogOperation {
  enum class Kind { kAppend, kRead };
  Kind kind = Kind::kAppend;
  // kAppend: the value, and the number of values with it, if that is known. An append whose outcome
  // is not known has this place if it happened.
  std::string value;
  std::optional<uint64_t> place;
  // kRead: all, the first first.
  std::vector<std::string> contents;
  neptune::TimePoint invoked{};
  neptune::TimePoint returned = neptune::kNever;  // the outcome is not known
};

LinearizabilityResult CheckLog(const std::vector<LogOperation>& history,
                               size_t configuration_count_max = kConfigurationCountMax);

}  // namespace search::history
