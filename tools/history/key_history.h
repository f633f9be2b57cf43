// Histories of keys that are read, written and compared before they are written.
//
// Threads: pure functions.
// Errors: none; a history that cannot be checked within the limits is kGaveUp.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "tools/history/linearizability.h"

namespace search::history {

struct KeyOperation {
  enum class Kind { kRead, kWrite, kCompareAndWrite };
  Kind kind = Kind::kRead;
  std::string key;
  // The value that was read or is written; nullopt: no value.
  std::optional<std::string> value;
  // kCompareAndWrite: the value that must be present, and whether it was, if that is known.
  std::optional<std::string> expected;
  bool succeeded = false;
  neptune::TimePoint invoked{};
  neptune::TimePoint returned = neptune::kNever;  // the outcome is not known
};

struct KeyResult {
  Verdict verdict = Verdict::kLinearizable;
  // The first key that is not linearizable or could not be checked; operations are numbered as in
  // the history.
  std::string key;
  size_t stuck_at = 0;
};

// Checks each key separately. REQUIRES: operations that certainly had no effect are left out.
KeyResult CheckKeys(const std::vector<KeyOperation>& history,
                    size_t configuration_count_max = kConfigurationCountMax);

}  // namespace search::history
