#include "frontend/trace/trace_log.h"

#include <algorithm>
#include <limits>

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

TraceLog::TraceLog(bool keeps_queries) : keeps_queries_(keeps_queries) {
  for (auto& time : full_until_) time = std::numeric_limits<neptune::Duration::rep>::min();
}

void TraceLog::Keep(const SearchAnswer& answer, const neptune::Status& status,
                    std::string_view service_class, bool sampled, TimePoint now) {
  std::vector<size_t> kinds = KindsOf(answer, status, sampled);
  for (const size_t kind : kinds) seen_[kind].Increment();
  std::erase_if(kinds, [&](size_t kind) {
    return now.time_since_epoch().count() < full_until_[kind].load(std::memory_order_relaxed);
  });
  if (kinds.empty()) return;
  std::vector<size_t> takers;
  {
    neptune::LeafLock lock(&mutex_);
    for (const size_t kind : kinds) {
      if (Admits(kind, now)) takers.push_back(kind);
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

bool TraceLog::Admits(size_t kind, TimePoint now) {
  constexpr neptune::Duration kSecond = std::chrono::seconds(1);
  Ring& ring = rings_[kind];
  if (now - ring.second_began >= kSecond) {
    ring.second_began = now;
    ring.kept_in_second = 0;
  }
  if (ring.kept_in_second == kKeptInSecond) return false;
  if (++ring.kept_in_second == kKeptInSecond) {
    full_until_[kind].store((ring.second_began + kSecond).time_since_epoch().count(),
                            std::memory_order_relaxed);
  }
  return true;
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
  seen_[KindOfTime(took)].Increment();
  if (is_partial) seen_[static_cast<size_t>(TraceIssue::kPartial)].Increment();
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
    kinds.push_back({NameOf(i), seen_[i].value(), {ring.traces.begin(), ring.traces.end()}});
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
