#include "frontend/trace/trace_log.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace search::frontend {

using neptune::StrCat;
using neptune::TimePoint;

namespace {

std::string Millis(neptune::Duration time) {
  return StrCat(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

void Bound(ServiceCoverage* service) {
  if (service->tree.size() > TraceLog::kTreeServersKept) {
    service->tree.resize(TraceLog::kTreeServersKept);
  }
}

}  // namespace

void TraceLog::Keep(const SearchAnswer& answer, const neptune::Status& status,
                    std::string_view service_class, bool sampled, TimePoint now) {
  std::vector<size_t> takers;
  {
    neptune::LeafLock lock(&mutex_);
    for (const size_t kind : KindsOf(answer, status, sampled)) {
      if (Admits(&rings_[kind], now)) takers.push_back(kind);
    }
  }
  if (takers.empty()) return;
  SearchTrace trace = MakeTrace(answer, status, service_class, sampled, keeps_queries_);
  for (ServiceCoverage& tier : trace.coverage.tiers) Bound(&tier);
  const auto kept = std::make_shared<const SearchTrace>(std::move(trace));
  neptune::LeafLock lock(&mutex_);
  for (const size_t kind : takers) {
    rings_[kind].traces.push_front(kept);
    if (rings_[kind].traces.size() > kTracesOfKind) rings_[kind].traces.pop_back();
  }
}

bool TraceLog::Admits(Ring* ring, TimePoint now) {
  ++ring->seen_count;
  if (now - ring->second_began >= std::chrono::seconds(1)) {
    ring->second_began = now;
    ring->kept_in_second = 0;
  }
  return ring->kept_in_second++ < kKeptInSecond;
}

std::vector<size_t> TraceLog::KindsOf(const SearchAnswer& answer, const neptune::Status& status,
                                      bool sampled) {
  std::vector<size_t> kinds;
  for (const TraceIssue issue : IssuesOf(answer, status)) {
    kinds.push_back(static_cast<size_t>(issue));
  }
  if (status.ok()) kinds.push_back(KindOfTime(answer.took));
  if (sampled) kinds.push_back(kKindCount - 1);
  return kinds;
}

size_t TraceLog::KindOfTime(neptune::Duration took) {
  const auto bound = std::upper_bound(kLatencyBounds.begin(), kLatencyBounds.end(), took);
  return kTraceIssueCount + static_cast<size_t>(bound - kLatencyBounds.begin());
}

void TraceLog::Count(neptune::Duration took, bool is_partial) {
  neptune::LeafLock lock(&mutex_);
  ++rings_[KindOfTime(took)].seen_count;
  if (is_partial) ++rings_[static_cast<size_t>(TraceIssue::kPartial)].seen_count;
}

std::string TraceLog::NameOf(size_t kind) {
  if (kind < kTraceIssueCount) return std::string(Name(static_cast<TraceIssue>(kind)));
  if (kind == kKindCount - 1) return "sampled";
  const size_t bucket = kind - kTraceIssueCount;
  if (bucket == 0) return StrCat("below ", Millis(kLatencyBounds.front()), " ms");
  if (bucket == kLatencyBounds.size()) return StrCat(Millis(kLatencyBounds.back()), " ms and more");
  return StrCat(Millis(kLatencyBounds[bucket - 1]), " to ", Millis(kLatencyBounds[bucket]), " ms");
}

std::vector<TraceLog::Kind> TraceLog::Snapshot() const {
  std::vector<Kind> kinds;
  neptune::LeafLock lock(&mutex_);
  for (size_t i = 0; i < kKindCount; ++i) {
    const Ring& ring = rings_[i];
    kinds.push_back({NameOf(i), ring.seen_count, {ring.traces.begin(), ring.traces.end()}});
  }
  return kinds;
}

std::vector<TraceLog::Kept> TraceLog::Latest(size_t count) const {
  std::vector<Kept> all;
  {
    neptune::LeafLock lock(&mutex_);
    for (const Ring& ring : rings_) all.insert(all.end(), ring.traces.begin(), ring.traces.end());
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a->ended_at.ns_since_1970, a->id) >
           std::pair(b->ended_at.ns_since_1970, b->id);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());  // a trace may be of several kinds
  if (all.size() > count) all.resize(count);
  return all;
}

TraceLog::Kept TraceLog::Find(std::string_view id) const {
  neptune::LeafLock lock(&mutex_);
  for (const Ring& ring : rings_) {
    for (const Kept& trace : ring.traces) {
      if (trace->id == id) return trace;
    }
  }
  return nullptr;
}

}  // namespace search::frontend
