// Reads traces of several formats for cache simulations.
//
// Source: README.md has the formats.
// Threads: pure functions that read files.
// Errors: those of reading; INVALID_ARGUMENT "FILE:LINE: reason" for a bad line with
//   BadLines::kFail, and for a file without usable requests; RESOURCE_EXHAUSTED too many requests.
// Limits: those of CacheTrace; one line besides.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "tools/cache_sim/answer_table.h"
#include "tools/cache_sim/cache_trace.h"
#include "tools/trace/trace_file.h"

namespace search::tools {

enum class RequestFormat {
  kQueries,    // tools/trace/format.md, also the access log of a frontend
  kCommonLog,  // GET requests of a Web server that were answered with 200 or 304
  kSized,      // TIME ID SIZE [COST]
};

struct ReadCounts {
  uint64_t skipped_count = 0;  // requests that no cache would keep the answer of
  uint64_t bad_line_count = 0;
  std::string first_bad_line;  // "FILE:LINE: reason"
};

// Looks at the first line. Errors: those of reading; INVALID_ARGUMENT the file is empty.
neptune::StatusOr<RequestFormat> DetectFormat(const std::string& path);

// Adds the requests of a file to *trace. `answers` gives the weights of queries.
neptune::StatusOr<ReadCounts> ReadRequests(const std::string& path, RequestFormat format,
                                           BadLines bad_lines, const AnswerTable& answers,
                                           CacheTrace* trace);

}  // namespace search::tools
