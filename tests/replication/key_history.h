// Histories of keys that are read, written and compared before they are written.
//
// Threads: pure functions.
// Errors: none; a history that cannot be judged within the limits is kGaveUp.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "tests/replication/linearizability.h"

namespace neptune::replication_tests {

struct KeyOperation {
  enum class Kind { kRead, kWrite, kCompareAndWrite };
  Kind kind = Kind::kRead;
  std::string key;
  // What was read or is written; nullopt: nothing is there, or is to be there.
  std::optional<std::string> value;
  // kCompareAndWrite: what has to be there, and whether it was, if that is known.
  std::optional<std::string> expected;
  bool succeeded = false;
  TimePoint invoked{};
  TimePoint returned = kNever;  // the outcome is not known
};

struct KeyJudgement {
  Verdict verdict = Verdict::kLinearizable;
  // Explains the first key that is not linearizable or could not be judged; operations are numbered
  // as in the history.
  std::string key;
  size_t stuck_at = 0;
};

// Each key by itself. Operations that surely had no effect are to be left out.
KeyJudgement JudgeKeys(const std::vector<KeyOperation>& history,
                       size_t configuration_count_max = kConfigurationCountMax);

}  // namespace neptune::replication_tests
