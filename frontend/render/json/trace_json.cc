#include "frontend/render/json/trace_json.h"

#include "frontend/render/json/print.h"
#include "frontend/trace/explanation.h"
#include "frontend/trace/trace_spans.h"
#include "neptune/base/time.h"

namespace search::frontend::json {
namespace {

using Json = nlohmann::ordered_json;
using neptune::ToMillis;

Json Spans(const SearchTrace& trace) {
  Json spans = Json::array();
  for (const TraceSpan& span : SpansOf(trace)) {
    spans.push_back({{"parent", span.parent < 0 ? Json(nullptr) : Json(span.parent)},
                     {"name", span.name},
                     {"node", span.node.empty() ? Json(nullptr) : Json(span.node)},
                     {"part", Name(span.part)},
                     {"begin_ms", ToMillis(span.begin)},
                     {"duration_ms", ToMillis(span.duration)}});
  }
  return spans;
}

// Time of the search by part; the parts add up to its duration.
Json Parts(const SearchTrace& trace) {
  const auto parts = PartsOf(trace);
  Json document = Json::object();
  for (const SpanPart part :
       {SpanPart::kQueue, SpanPart::kWork, SpanPart::kWait, SpanPart::kMerge}) {
    document[std::string(Name(part)) + "_ms"] = ToMillis(parts[static_cast<size_t>(part)]);
  }
  return document;
}

Json Servers(const ServiceCoverage& tier) {
  Json servers = Json::array();
  for (const TreeServer& server : tier.tree) {
    servers.push_back({{"node", server.node},
                       {"parent", server.parent < 0 ? Json(nullptr) : Json(server.parent)},
                       {"partitions", server.partitions},
                       {"answered", server.answered},
                       {"believed_load_ms", ToMillis(server.believed_load)},
                       {"queued_ms", ToMillis(server.queued)},
                       {"searched_ms", ToMillis(server.searched)},
                       {"replied_ms", ToMillis(server.replied)},
                       {"reducing_ms", ToMillis(server.reducing)},
                       {"reductions", server.reduction_count}});
  }
  return servers;
}

}  // namespace

double Seconds(neptune::WallTime time) { return static_cast<double>(time.ns_since_1970) / 1e9; }

Json TraceSummary(const SearchTrace& trace) {
  return {{"trace_id", trace.id},
          {"ended_at_s", Seconds(trace.ended_at)},
          {"query", trace.query.empty() ? Json(nullptr) : Json(trace.query)},
          {"class", trace.service_class},
          {"status", absl::StatusCodeToString(trace.status.code())},
          {"took_ms", ToMillis(trace.took)},
          {"quality", trace.coverage.quality()},
          {"results", trace.result_count},
          {"sampled", trace.sampled}};
}

Json TraceJson(const SearchTrace& trace) {
  Json tiers = Json::array();
  for (const ServiceCoverage& tier : trace.coverage.tiers) {
    tiers.push_back({{"service", tier.service},
                     {"took_ms", ToMillis(tier.took)},
                     {"forming_ms", ToMillis(tier.forming)},
                     {"reducing_ms", ToMillis(tier.reducing)},
                     {"tree", tier.tree_scheme},
                     {"servers", Servers(tier)}});
  }
  return {{"trace_id", trace.id},
          {"explanation", Explain(trace)},
          {"parts", Parts(trace)},
          {"spans", Spans(trace)},
          {"tiers", std::move(tiers)}};
}

std::string TraceDocument(const SearchTrace& trace) {
  Json document = TraceSummary(trace);
  document.update(TraceJson(trace));
  return Print(document);
}

std::string TraceListDocument(const std::vector<TraceLog::Kind>& kinds) {
  Json list = Json::array();
  for (const TraceLog::Kind& kind : kinds) {
    Json traces = Json::array();
    for (const TraceLog::Kept& trace : kind.latest) traces.push_back(TraceSummary(*trace));
    list.push_back({{"kind", kind.name}, {"seen", kind.seen_count}, {"latest", std::move(traces)}});
  }
  return Print({{"kinds", std::move(list)}});
}

}  // namespace search::frontend::json
