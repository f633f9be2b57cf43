// Histories of something that only grows: appends that tell their place, and reads of all that is
// there.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "tests/replication/linearizability.h"

namespace neptune::replication_tests {

struct LogOperation {
  enum class Kind { kAppend, kRead };
  Kind kind = Kind::kAppend;
  // kAppend: the value, and the number of values after it if the answer had it.
  std::string value;
  std::optional<uint64_t> place;
  // kRead: all, the first first.
  std::vector<std::string> contents;
  TimePoint invoked{};
  TimePoint returned = kNever;  // the outcome is not known
};

Judgement JudgeLog(const std::vector<LogOperation>& history,
                   size_t configuration_count_max = kConfigurationCountMax);

}  // namespace neptune::replication_tests
