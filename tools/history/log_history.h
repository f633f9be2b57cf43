// Histories of a log that only grows: appends that may know their position, and reads of the whole
// log.
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
  // kAppend: the value, and the length of the log after it, if known. An append whose outcome is
  // not known has this place if it took effect.
  std::string value;
  std::optional<uint64_t> place;
  // kRead: all values, the oldest first.
  std::vector<std::string> contents;
  neptune::TimePoint invoked{};
  neptune::TimePoint returned = neptune::kNever;  // the outcome is not known
};

LinearizabilityResult CheckLog(const std::vector<LogOperation>& history,
                               size_t configuration_count_max = kConfigurationCountMax);

}  // namespace search::history
