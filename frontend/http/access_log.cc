#include "frontend/http/access_log.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "frontend/render/wording/wording.h"

namespace search::frontend {

std::string AccessLine(const SearchAnswer& answer, std::string_view service_class, int http_status,
                       bool keeps_query) {
  using Json = nlohmann::ordered_json;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(answer.took).count();
  Json line = {{"time_us", answer.answered_at.ns_since_1970 / 1000 - took}};
  if (!service_class.empty()) line["class"] = service_class;
  if (keeps_query) line["query"] = answer.query;
  line["status"] = http_status;
  line["took_ms"] = neptune::ToMillis(answer.took);
  line["cache"] = OutcomeName(answer.coverage.cache.outcome);
  line["quality"] = answer.coverage.quality();
  line["results"] = answer.results.size();
  line["trace_id"] = answer.trace_id;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

neptune::StatusOr<std::unique_ptr<AccessLog>> AccessLog::Open(const AccessLogOptions& options,
                                                              neptune::CapsuleStack& stack,
                                                              neptune::MetricsRegistry& metrics) {
  neptune::LineLogOptions lines;
  lines.path = options.path;
  lines.age_max = options.age_max;
  lines.may_write = options.may_write;
  NEPTUNE_ASSIGN_OR_RETURN(auto log,
                           neptune::LineLog::Open("access", std::move(lines), stack, metrics));
  return std::unique_ptr<AccessLog>(new AccessLog(std::move(log), options.keeps_queries));
}

}  // namespace search::frontend
