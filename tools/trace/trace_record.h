// One record of a query trace, its line format and its limits.
//
// Source: format.md.
// Threads: pure functions and plain values.
// Units: time_us counts microseconds from the trace's beginning.
// Errors: INVALID_ARGUMENT says what is wrong with the line; the caller adds its number.
// Limits: TraceLimits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::tools {

inline constexpr std::string_view kTraceHeader = "#neptune-trace v1";

struct TraceLimits {
  static constexpr size_t kQuerySizeMax = 4096;  // the frontend's limit
  static constexpr size_t kClassSizeMax = 32;
  // Ten years in microseconds.
  static constexpr uint64_t kTimeMaxUs = 10ull * 366 * 86'400 * 1'000'000;
  static constexpr size_t kLineSizeMax = kQuerySizeMax + kClassSizeMax + 32;
  // Limit for access logs, whose queries may be escaped byte by byte.
  static constexpr size_t kAccessLineSizeMax = 6 * kQuerySizeMax + 1024;
  // Maximum number of classes in one trace.
  static constexpr size_t kClassCountMax = 64;
  // Maximum number of requests that a tool holds in memory.
  static constexpr size_t kRecordCountMax = 50'000'000;
};

struct TraceRecord {
  uint64_t time_us = 0;
  std::string service_class;
  std::string query;

  friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};

// Letters, digits, '-' and '_', 1 to kClassSizeMax of them.
neptune::Status CheckTraceClass(std::string_view name);
// UTF-8 without control characters, 1 to kQuerySizeMax bytes.
neptune::Status CheckTraceQuery(std::string_view query);

// The record of a line "TIME<tab>CLASS<tab>QUERY" without its line break.
neptune::Status ParseTraceLine(std::string_view line, TraceRecord* record);
// The record of a line of a frontend's access log, {"time_us":...,"class":"...","query":"...",...}:
// time_us counts from 1970, other members are ignored, and the query is cleaned. A missing class
// becomes `kDefaultClass`.
inline constexpr std::string_view kDefaultClass = "default";
neptune::Status ParseAccessLine(std::string_view line, TraceRecord* record);
// The line of a record, with its line break. REQUIRES: the record's class and query pass the
// checks.
void AppendTraceLine(const TraceRecord& record, std::string* out);

// Makes `text` a valid query: control characters and runs of blanks become one blank, invalid UTF-8
// becomes U+FFFD, and excess bytes are cut at a character boundary. May be empty.
std::string CleanQuery(std::string_view text);

}  // namespace search::tools
