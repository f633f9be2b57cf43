#include "frontend/http/page_fronts.h"

namespace search::frontend {
namespace {

// The share of the room for what is known of requests, as a divisor.
constexpr size_t kSeenShare = 8;

}  // namespace

PageFronts::PageFronts(const PageFront::Parts& parts, const PageFront::Options& options,
                       size_t size_max, const std::vector<neptune::Loop*>& loops) {
  if (size_max == 0) return;
  PageFront::Options each = options;
  const size_t size = size_max / loops.size();
  each.seen.size_max = size / kSeenShare;
  each.pages.size_max = size - each.seen.size_max;
  for (neptune::Loop* const loop : loops) {
    fronts_.emplace_back(loop, std::make_unique<PageFront>(parts, each));
  }
}

void PageFronts::LogTo(AccessLog& log) {
  for (const auto& [loop, front] : fronts_) front->LogTo(log);
}

uint64_t PageFronts::Sum(std::atomic<uint64_t> PageCacheStats::*field) const {
  uint64_t total = 0;
  for (const auto& [loop, front] : fronts_) {
    total += (front->stats().*field).load(std::memory_order_relaxed);
  }
  return total;
}

neptune::Status PageFronts::Show(neptune::MetricsRegistry& metrics,
                                 std::vector<neptune::CallbackGauge>* gauges) const {
  const auto sum = [this](std::atomic<uint64_t> PageCacheStats::*field) {
    return [this, field] { return static_cast<double>(Sum(field)); };
  };
  NEPTUNE_ASSIGN_OR_RETURN(
      auto entries,
      metrics.AddCallbackGauge("search_page_cache_entries", "Pages that the frontend can repeat.",
                               {}, sum(&PageCacheStats::page_count)));
  gauges->push_back(std::move(entries));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto size, metrics.AddCallbackGauge("search_page_cache_size_bytes",
                                          "Bytes of pages that the frontend can repeat.", {},
                                          sum(&PageCacheStats::size)));
  gauges->push_back(std::move(size));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto evictions,
      metrics.AddCallbackCounter("search_page_cache_evictions_total", "Pages evicted to make room.",
                                 {}, sum(&PageCacheStats::eviction_count)));
  gauges->push_back(std::move(evictions));
  return neptune::OkStatus();
}

}  // namespace search::frontend
