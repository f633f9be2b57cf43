#include "neptune/service/span_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace neptune {

void SpanLog::Record(Span span) {
  if (sink_) sink_(span);
  LeafLock lock(&mutex_);
  const uint64_t number = recorded_count_++;
  if (spans_.size() < kSpanCountMax) {
    spans_.push_back(std::move(span));
  } else {
    std::swap(spans_[number % kSpanCountMax], span);
  }
}

std::vector<Span> SpanLog::Snapshot() const {
  LeafLock lock(&mutex_);
  std::vector<Span> spans = spans_;
  if (recorded_count_ > kSpanCountMax) {
    const auto oldest = static_cast<int64_t>(recorded_count_ % kSpanCountMax);
    std::rotate(spans.begin(), spans.begin() + oldest, spans.end());
  }
  return spans;
}

void SpanLog::Describe(StatusReport* report) const {
  StatusTable table{
      "Latest spans of sampled traces",
      {"trace", "span", "parent", "side", "what", "peer", "ended s", "ms", "queued ms", "outcome"},
      {}};
  std::vector<Span> spans = Snapshot();
  std::reverse(spans.begin(), spans.end());
  for (const Span& span : spans) {
    constexpr double kNsPerS = 1e9;
    table.AddRow(TraceIdText(span.context), absl::StrFormat("%016x", span.context.span),
                 absl::StrFormat("%016x", span.parent),
                 span.kind == SpanKind::kCaller ? "caller" : "server", span.what, span.peer,
                 static_cast<double>(span.end.ns_since_1970) / kNsPerS, ToMillis(span.duration),
                 ToMillis(span.queue_time), absl::StatusCodeToString(span.outcome));
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
