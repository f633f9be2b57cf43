// Access log: one line of JSON for each search, in the order in which searches end.
//
//   {"time_us":1700000000123456,"class":"gold","query":"window functions","status":200,
//    "took_ms":12.3,"cache":"miss","quality":1.0,"results":10,
//    "trace_id":"0af7651916cd43dd8448eb211c80319c"}
//
// time_us is the arrival of the request. //tools:replay and //tools:make_trace accept the file as a
// trace (tools/trace/format.md), unless queries are private and therefore missing from it.
//
// Threads: thread-safe; does not block.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/model/answer.h"
#include "neptune/service/line_log.h"

namespace search::frontend {

struct AccessLogOptions {
  std::string path;  // empty: no log is written
  bool keeps_queries = true;
  neptune::Duration age_max = std::chrono::hours(24 * 30);  // see LineLogOptions
  std::function<bool()> may_write{};                        // see LineLogOptions
};

// The line of a search that ended with the HTTP status.
std::string AccessLine(const SearchAnswer& answer, std::string_view service_class, int http_status,
                       bool keeps_query);

class AccessLog {
 public:
  // REQUIRES: on a user-level thread; `stack` outlives it. Errors: those of LineLog.
  static neptune::StatusOr<std::unique_ptr<AccessLog>> Open(const AccessLogOptions& options,
                                                            neptune::CapsuleStack& stack,
                                                            neptune::MetricsRegistry& metrics);

  void Add(const SearchAnswer& answer, std::string_view service_class, int http_status) {
    lines_->Append(AccessLine(answer, service_class, http_status, keeps_queries_));
  }
  // REQUIRES: called once, on the loop on which the log was opened.
  void Close() { lines_->Close(); }

 private:
  AccessLog(std::unique_ptr<neptune::LineLog> lines, bool keeps_queries)
      : lines_(std::move(lines)), keeps_queries_(keeps_queries) {}

  const std::unique_ptr<neptune::LineLog> lines_;
  const bool keeps_queries_;
};

}  // namespace search::frontend
