// Script of node events during a load, on the load's clock.
//
//   "10s pause s1; 20s resume s1; 30s slow s2 3; 40s fail s3 0.02; 50s crash s4"
//
// Threads: pure functions and values.
// Units: times from the beginning of the load; a number with "s" or "ms".
// Errors: kInvalidArgument names the malformed event.
// Limits: kScriptEventCountMax events.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::workload {

inline constexpr size_t kScriptEventCountMax = 10'000;

struct ScriptEvent {
  enum class Kind {
    kPause,  // as SIGSTOP
    kResume,
    kCrash,  // the machine fails
    kRestart,
    kSlow,    // processors `amount` times slower; 1 ends it
    kFail,    // requests fail after `amount` of their cost
    kHang,    // requests do not end; the node keeps announcing itself
    kNormal,  // ends kFail and kHang
  };
  neptune::Duration at{};
  Kind kind = Kind::kPause;
  std::string node;
  double amount = 0;
  friend bool operator==(const ScriptEvent&, const ScriptEvent&) = default;
};

// Sorted by time; events at the same time keep their order.
neptune::StatusOr<std::vector<ScriptEvent>> ParseScript(std::string_view text);

}  // namespace search::workload
