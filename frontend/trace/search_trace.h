// Record of one search, kept to explain later why it was slow, partial, refused or cut.
//
// Threads: plain values.
// Units: durations of the frontend's clock; times of a tier's servers are by their own clocks,
//   since the arrival of their task.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

struct SearchTrace {
  std::string id;  // 32 hexadecimal digits, W3C Trace Context
  // The caller asked for its spans, or the frontend selected it (trace_share).
  bool sampled = false;
  neptune::WallTime ended_at;
  std::string query;  // empty if queries are private
  std::string service_class;
  neptune::Status status;
  neptune::Duration took{0};
  std::vector<SearchStep> steps;
  Coverage coverage;
  size_t result_count = 0;
};

SearchTrace MakeTrace(const SearchAnswer& answer, const neptune::Status& status,
                      std::string_view service_class, bool sampled, bool keeps_query);

// Defects of an answer by which traces are kept.
enum class TraceIssue { kPartial, kCut, kRefused, kFailed };
inline constexpr size_t kTraceIssueCount = 4;
std::string_view Name(TraceIssue issue);  // "partial", "cut", ...
// Ascending; empty for a complete answer.
std::vector<TraceIssue> IssuesOf(const SearchAnswer& answer, const neptune::Status& status);

}  // namespace search::frontend
