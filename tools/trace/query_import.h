// Imports queries from plain lists, access logs of Web servers or a corpus of documents.
//
// Source: the Common and Combined Log Formats of Web servers.
// Threads: pure functions; all but ParseAccessLogLine read files.
// Errors: those of reading; INVALID_ARGUMENT nothing usable in the file.
// Limits: lines of kLogLineSizeMax bytes; longer ones are skipped and counted. A list and the
//   sampled documents of a corpus are held in memory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/trace/trace_generator.h"

namespace search::tools {

inline constexpr size_t kLogLineSizeMax = 64 * 1024;
inline constexpr size_t kSampledDocumentsMax = 100'000;

// Reads one query per line, cleaned (CleanQuery); skips blank lines.
neptune::StatusOr<std::vector<std::string>> ReadQueryList(const std::string& path);

// Returns `count` distinct queries of one to four words from a corpus in JSON Lines: half from one
// document's title, half from nearby words in its text.
neptune::StatusOr<std::vector<std::string>> QueriesOfCorpus(const std::string& path, size_t count,
                                                            uint64_t seed);

struct AccessLogEntry {
  int64_t time_s = 0;  // since 1970
  std::string query;   // value of the parameter; empty if the request had none
};

// A line `host - - [01/Jul/1995:00:00:01 -0400] "GET /search?q=... HTTP/1.0" 200 ...`; `parameter`
// names the URL parameter that holds the query.
neptune::StatusOr<AccessLogEntry> ParseAccessLogLine(std::string_view line,
                                                     std::string_view parameter);

struct AccessLogCounts {
  uint64_t request_count = 0;
  uint64_t without_query = 0;
  uint64_t bad_lines = 0;
  std::string first_bad_line;  // "FILE:LINE: reason"
};

struct AccessLogOptions {
  std::string parameter = "q";
  std::string service_class = "bronze";
  bool bad_lines_fail = true;
};

// Calls `take` with the log's searches. Requests of one second are spread evenly over it; one that
// ended late and follows a later second is taken at that second.
neptune::StatusOr<AccessLogCounts> ImportAccessLog(const std::string& path,
                                                   const AccessLogOptions& options,
                                                   const RecordHandler& take);

}  // namespace search::tools
