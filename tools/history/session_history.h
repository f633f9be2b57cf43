// Guarantees to sessions of one partition: versions never go back, a session sees its own writes,
// and no staleness is understated.
//
// Source: [Shen02] 5.2.1 (progressive versions, staleness). Threads: pure functions.
// Units: times are those of one clock that sees everything, which nodes do not have.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"

namespace search::history {

struct SessionOperation {
  uint64_t session = 0;
  bool is_write = false;
  // Version of the data read, or after the write.
  uint64_t version = 0;
  // Staleness reported by a read: its data were the newest at most this long before.
  std::optional<neptune::Duration> reported_staleness;
  neptune::TimePoint invoked{};
  neptune::TimePoint returned{};
};

// A version that was acknowledged to its writer.
struct AcknowledgedVersion {
  uint64_t version = 0;
  neptune::TimePoint at{};
};

enum class SessionRule {
  kOwnWriteMissing,       // below one that the session had written
  kVersionWentBack,       // below one that the session had seen
  kStalenessUnderstated,  // a newer version was acknowledged before the time that the read claims
};

struct SessionViolation {
  SessionRule rule;
  size_t operation = 0;  // of the history
};

// Whether an operation returned before another one of its session was invoked; of two that take no
// time at the same instant, the first in the history.
bool PrecedesInSession(const std::vector<SessionOperation>& history, size_t first, size_t second);

// Operations of a session that overlap may see each other or not. At most one violation an
// operation, in the order of the rules; a write's version must be above what the session had.
std::vector<SessionViolation> CheckSessions(const std::vector<SessionOperation>& history,
                                            std::vector<AcknowledgedVersion> acknowledged);

}  // namespace search::history
