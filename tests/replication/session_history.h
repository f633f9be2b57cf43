// What a session may expect of one partition: versions that never go back, its own writes, and no
// staleness understated.
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

namespace neptune::replication_tests {

struct SessionOperation {
  uint64_t session = 0;
  bool is_write = false;
  // Version of the data read, or after the write.
  uint64_t version = 0;
  // Staleness reported by a read: its data were the newest at most this long before.
  std::optional<Duration> reported_staleness;
  TimePoint invoked{};
  TimePoint returned{};
};

// A version that was acknowledged to its writer.
struct AcknowledgedVersion {
  uint64_t version = 0;
  TimePoint at{};
};

enum class SessionFault {
  kOwnWriteMissing,       // below one that the session had written
  kVersionWentBack,       // below one that the session had seen
  kStalenessUnderstated,  // a newer version was acknowledged before the time that the read claims
};

struct FoundSessionFault {
  SessionFault fault;
  size_t operation = 0;  // of the history
};

// Operations of a session that overlap may see each other or not. One fault an operation at most,
// in the order of the list of faults; a write's version must be above what the session had.
std::vector<FoundSessionFault> JudgeSessions(const std::vector<SessionOperation>& history,
                                             std::vector<AcknowledgedVersion> acknowledged);

}  // namespace neptune::replication_tests
