#include "frontend/http/audit_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace search::frontend {
namespace {

using Json = nlohmann::ordered_json;

int64_t Micros(neptune::WallTime time) { return time.ns_since_1970 / 1000; }

std::string Text(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string AuditLine(const DocumentAudit& audit) {
  Json line = {{"time_us", Micros(audit.at)},
               {"action", "documents"},
               {"method", audit.method},
               {"address", audit.address}};
  if (!audit.forwarded_for.empty()) {
    line["forwarded_for"] = audit.forwarded_for.substr(0, kAuditedForwardedSizeMax);
  }
  line["right"] = audit.right;
  if (!audit.service_class.empty()) line["class"] = audit.service_class;
  line["status"] = audit.status;
  const size_t count = audit.changed.written.size();
  const size_t shown = std::min(count, kAuditedDocumentsMax);
  Json& documents = line["documents"] = Json::array();
  for (size_t i = 0; i < shown; ++i) {
    documents.push_back(std::to_string(audit.changed.written[i]));
  }
  if (shown < count) line["more"] = count - shown;
  line["failed"] = audit.changed.failed_count;
  return Text(line);
}

std::string AuditLine(const VersionAudit& audit) {
  return Text({{"time_us", Micros(audit.at)},
               {"action", "index_version"},
               {"change", audit.change},
               {"current", audit.current},
               {"number", audit.number}});
}

std::string AuditLineOfDrain(neptune::WallTime at) {
  return Text({{"time_us", Micros(at)}, {"action", "drain"}});
}

neptune::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path,
                                                            std::function<bool()> may_write,
                                                            neptune::CapsuleStack& stack,
                                                            neptune::MetricsRegistry& metrics) {
  neptune::LineLogOptions lines;
  lines.path = path;
  lines.may_write = std::move(may_write);
  NEPTUNE_ASSIGN_OR_RETURN(auto log,
                           neptune::LineLog::Open("audit", std::move(lines), stack, metrics));
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(log)));
}

}  // namespace search::frontend
