// Guarantees to the sessions of one partition: versions never decrease, a session sees its own
// writes, and no staleness is understated.
//
// Source: [Shen02] 5.2.1 (progressive versions, staleness).
// Threads: pure functions.
// Units: times are those of one global clock, which nodes do not have.

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
  kOwnWriteMissing,       // lower than a version that the session had written
  kVersionWentBack,       // lower than a version that the session had seen
  kStalenessUnderstated,  // a newer version was acknowledged before the time that the read claims
};

struct SessionViolation {
  SessionRule rule;
  size_t operation = 0;  // of the history
};

// Whether an operation returned before another one of its session was invoked. Two operations that
// take no time at the same instant have the order of the history.
bool PrecedesInSession(const std::vector<SessionOperation>& history, size_t first, size_t second);

// Operations of a session that overlap may see each other or not. Reports at most one violation per
// operation, the first in the order of the rules. A write's version must exceed what the session
// had seen.
std::vector<SessionViolation> CheckSessions(const std::vector<SessionOperation>& history,
                                            std::vector<AcknowledgedVersion> acknowledged);

}  // namespace search::history
