// Generates a trace from a profile, a list of queries and a seed.
//
// Source: [Shen02] 4.5.1 (Differentiated Search).
// Threads: pure function.
// Errors: those of `take`; INVALID_ARGUMENT no queries.
// Limits: those of QueryStream. The same arguments give the same records, on machines with the same
//   floating-point library.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/trace/trace_profile.pb.h"
#include "tools/trace/trace_record.h"

namespace search::tools {

using RecordHandler = std::function<neptune::Status(const TraceRecord&)>;

struct GeneratedCounts {
  uint64_t request_count = 0;
  uint64_t composed_query_count = 0;
};

// Calls `take` with each record in order of time. REQUIRES: CheckTraceProfile(profile) is OK.
neptune::StatusOr<GeneratedCounts> GenerateTrace(const TraceProfile& profile,
                                                 const std::vector<std::string>& queries,
                                                 uint64_t seed, const RecordHandler& take);

}  // namespace search::tools
