// What was asked of the frontend and what became of it, a line of JSON for each search, in the order of their ends.
//
//   {"time_us":1700000000123456,"class":"gold","query":"window functions","status":200,"took_ms":12.3,"cache":"miss",
//    "quality":1.0,"results":10,"trace_id":"0af7651916cd43dd8448eb211c80319c"}
//
// time_us is when the request arrived. The file is a trace that //tools:replay and //tools:make_trace take (tools/trace/
// format.md); without its queries, where they are private, it is not.
//
// Threads: thread-safe; does not wait.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/answer.h"
#include "neptune/service/line_log.h"

namespace search::frontend {

struct AccessLogOptions {
  std::string path;  // empty: there is no log
  bool keeps_queries = true;
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
  // Once, on the loop on which it was opened.
  void Close() { lines_->Close(); }

 private:
  AccessLog(std::unique_ptr<neptune::LineLog> lines, bool keeps_queries)
      : lines_(std::move(lines)), keeps_queries_(keeps_queries) {}

  const std::unique_ptr<neptune::LineLog> lines_;
  const bool keeps_queries_;
};

}  // namespace search::frontend
