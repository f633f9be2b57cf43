#include "neptune/service/span_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Json = nlohmann::ordered_json;

// Constants of the protocol.
constexpr int kServerKind = 2;
constexpr int kClientKind = 3;
constexpr int kErrorStatus = 2;

std::string SpanIdText(uint64_t id) { return absl::StrFormat("%016x", id); }

Json Attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

Json Attribute(std::string_view key, double value) {
  return {{"key", key}, {"value", {{"doubleValue", value}}}};
}

}  // namespace

std::string OtlpLine(const Span& span, std::string_view node) {
  const auto duration = std::chrono::duration_cast<std::chrono::nanoseconds>(span.duration).count();
  Json attributes = Json::array();
  if (!span.peer.empty()) attributes.push_back(Attribute("server.address", span.peer));
  attributes.push_back(Attribute("neptune.queue_ms", ToMillis(span.queue_time)));
  Json one = {{"traceId", TraceIdText(span.context)},
              {"spanId", SpanIdText(span.context.span)},
              {"name", span.what},
              {"kind", span.kind == SpanKind::kServer ? kServerKind : kClientKind},
              {"startTimeUnixNano", StrCat(span.end.ns_since_1970 - duration)},
              {"endTimeUnixNano", StrCat(span.end.ns_since_1970)},
              {"attributes", std::move(attributes)}};
  if (span.parent != 0) one["parentSpanId"] = SpanIdText(span.parent);
  if (span.outcome != StatusCode::kOk) {
    one["status"] = {{"code", kErrorStatus}, {"message", absl::StatusCodeToString(span.outcome)}};
  }
  const Json document = {
      {"resourceSpans",
       {{{"resource",
          {{"attributes",
            {Attribute("service.name", "neptune"), Attribute("service.instance.id", node)}}}},
         {"scopeSpans", {{{"scope", {{"name", "neptune"}}}, {"spans", {std::move(one)}}}}}}}}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace neptune
