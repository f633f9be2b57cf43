#include "frontend/http/page_hits.h"

#include <span>
#include <utility>

#include "neptune/world/loop.h"

namespace search::frontend {

PageHits::PageHits(const GatewayMetrics& metrics, TraceLog& traces)
    : metrics_(metrics), traces_(traces), alive_(std::make_shared<PageHits*>(this)) {}

PageHits::~PageHits() {
  *alive_ = nullptr;
  Flush();
}

void PageHits::Add(const PageHit& hit) {
  pending_[pending_count_++] = hit;
  if (pending_count_ == kBatch) return Flush();
  FlushSoon();
}

void PageHits::FlushSoon() {
  if (std::exchange(flush_posted_, true)) return;
  neptune::Loop::Current()->Post([alive = alive_] {
    if (*alive == nullptr) return;
    (*alive)->flush_posted_ = false;
    (*alive)->Flush();
  });
}

void PageHits::Flush() {
  const std::span<const PageHit> hits(pending_.data(), std::exchange(pending_count_, 0));
  if (hits.empty()) return;
  neptune::ClassStatistics& classes = *metrics_.classes;
  constexpr neptune::Duration kNone{0};
  uint64_t stale_count = 0;
  for (const PageHit& hit : hits) {
    classes.OnArrival(hit.service_class);
    classes.OnEnd(hit.service_class, neptune::OkStatus());
    classes.OnRan(hit.service_class, kNone, hit.took, kNone);
    metrics_.Count(hit.format, hit.is_complete ? SearchOutcome::kComplete : SearchOutcome::kPartial,
                   hit.took);
    if (!hit.is_traced) traces_.Count(hit.took, !hit.is_complete);
    stale_count += hit.is_stale;
  }
  metrics_.page_hits->Increment(hits.size() - stale_count);
  metrics_.page_stale->Increment(stale_count);
}

}  // namespace search::frontend
