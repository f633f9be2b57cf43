#include "frontend/trace/trace_spans.h"

#include <algorithm>

namespace search::frontend {

using neptune::Duration;

namespace {

constexpr Duration kNone{0};

SpanPart PartOf(StepKind kind) {
  switch (kind) {
    case StepKind::kQueue:
      return SpanPart::kQueue;
    case StepKind::kWait:
      return SpanPart::kWait;
    case StepKind::kWork:
      break;
  }
  return SpanPart::kWork;
}

const ServiceCoverage* TierOf(const SearchTrace& trace, std::string_view step) {
  for (const ServiceCoverage& tier : trace.coverage.tiers) {
    if (tier.service == step && !tier.tree.empty()) return &tier;
  }
  return nullptr;
}

// The server that answered the frontend last; null if none answered.
const TreeServer* LastToAnswer(const ServiceCoverage& tier) {
  const TreeServer* last = nullptr;
  for (const TreeServer& server : tier.tree) {
    if (server.parent >= 0 || !server.answered) continue;
    if (last == nullptr || server.replied > last->replied) last = &server;
  }
  return last;
}

// Rest of the tier's time after subtracting forming, merging and the slowest server's own time.
Duration TransitOf(const ServiceCoverage& tier, Duration took) {
  const TreeServer* const last = LastToAnswer(tier);
  const Duration known = tier.forming + tier.reducing + (last == nullptr ? kNone : last->replied);
  return std::max(kNone, took - known);
}

struct ServerParts {
  Duration queue, work, wait, merge;
};

ServerParts PartsOfServer(const TreeServer& server) {
  const Duration queue = std::min(server.queued, server.replied);
  // If a server has no partitions of its own, it only reduces.
  const Duration searched = std::clamp(server.searched, queue, server.replied);
  const Duration merge = std::min(server.reducing, server.replied - searched);
  return {queue, searched - queue, server.replied - searched - merge, merge};
}

class SpanList {
 public:
  int Add(TraceSpan span) {
    spans_.push_back(std::move(span));
    return static_cast<int>(spans_.size()) - 1;
  }
  // Adds a span that begins at `*at` and advances `*at` to its end; empty spans are left out.
  void AddPart(int parent, std::string_view name, SpanPart part, const std::string& node,
               Duration duration, Duration* at) {
    if (duration > kNone) Add({parent, std::string(name), node, part, *at, duration});
    *at += duration;
  }
  std::vector<TraceSpan> Take() { return std::move(spans_); }

 private:
  std::vector<TraceSpan> spans_;
};

void AddServers(const ServiceCoverage& tier, int tier_span, Duration sent_at, SpanList* spans) {
  std::vector<int> span_of(tier.tree.size(), tier_span);
  std::vector<Duration> begin_of(tier.tree.size(), sent_at);
  for (size_t i = 0; i < tier.tree.size(); ++i) {
    const TreeServer& server = tier.tree[i];
    const auto parent = static_cast<size_t>(server.parent);
    const bool has_parent = server.parent >= 0 && parent < i;
    if (has_parent) begin_of[i] = begin_of[parent];
    span_of[i] = spans->Add({has_parent ? span_of[parent] : tier_span, server.node, server.node,
                             SpanPart::kWhole, begin_of[i], server.replied});
    Duration at = begin_of[i];
    const ServerParts parts = PartsOfServer(server);
    spans->AddPart(span_of[i], "queue", SpanPart::kQueue, server.node, parts.queue, &at);
    spans->AddPart(span_of[i], "search", SpanPart::kWork, server.node, parts.work, &at);
    spans->AddPart(span_of[i], "children", SpanPart::kWait, server.node, parts.wait, &at);
    spans->AddPart(span_of[i], "reduce", SpanPart::kMerge, server.node, parts.merge, &at);
  }
}

void AddTier(const ServiceCoverage& tier, const SearchStep& step, SpanList* spans) {
  const Duration took = step.end - step.begin;
  const int whole = spans->Add({0, tier.service, "", SpanPart::kWhole, step.begin, took});
  Duration at = step.begin;
  const Duration transit = TransitOf(tier, took);
  spans->AddPart(whole, "form the tree", SpanPart::kWork, "", tier.forming, &at);
  const Duration sent_at = at;
  spans->AddPart(whole, "transit", SpanPart::kWait, "", transit, &at);
  AddServers(tier, whole, sent_at + transit / 2, spans);
  Duration merge_at = step.end - tier.reducing;
  spans->AddPart(whole, "reduce", SpanPart::kMerge, "", tier.reducing, &merge_at);
}

}  // namespace

std::string_view Name(SpanPart part) {
  constexpr std::string_view kNames[] = {"whole", "queue", "work", "wait", "merge"};
  return kNames[static_cast<size_t>(part)];
}

std::vector<TraceSpan> SpansOf(const SearchTrace& trace) {
  SpanList spans;
  spans.Add({-1, "search", "", SpanPart::kWhole, kNone, trace.took});
  Duration at = kNone;
  for (const SearchStep& step : trace.steps) {
    spans.AddPart(0, "own work", SpanPart::kWork, "", step.begin - at, &at);
    if (const ServiceCoverage* const tier = TierOf(trace, step.name)) {
      AddTier(*tier, step, &spans);
      at = step.end;
    } else {
      spans.AddPart(0, step.name, PartOf(step.kind), "", step.end - step.begin, &at);
    }
  }
  spans.AddPart(0, "own work", SpanPart::kWork, "", trace.took - at, &at);
  return spans.Take();
}

std::array<Duration, 5> PartsOf(const SearchTrace& trace) {
  std::array<Duration, 5> parts{};
  const auto add = [&](SpanPart part, Duration time) { parts[static_cast<size_t>(part)] += time; };
  Duration in_steps = kNone;
  for (const SearchStep& step : trace.steps) {
    const Duration took = step.end - step.begin;
    in_steps += took;
    const ServiceCoverage* const tier = TierOf(trace, step.name);
    if (tier == nullptr) {
      add(PartOf(step.kind), took);
      continue;
    }
    add(SpanPart::kWork, tier->forming);
    add(SpanPart::kMerge, tier->reducing);
    add(SpanPart::kWait, TransitOf(*tier, took));
    if (const TreeServer* const last = LastToAnswer(*tier)) {
      const ServerParts server = PartsOfServer(*last);
      add(SpanPart::kQueue, server.queue);
      add(SpanPart::kWork, server.work);
      add(SpanPart::kWait, server.wait);
      add(SpanPart::kMerge, server.merge);
    }
  }
  add(SpanPart::kWork, trace.took - in_steps);
  return parts;
}

}  // namespace search::frontend
