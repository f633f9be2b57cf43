// The page fronts of a frontend, one for each of its serving loops.
//
// Threads: made by the owner before the first request; OfThisLoop on a serving loop; the sums from
//   any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "frontend/http/page_front.h"
#include "neptune/base/metrics.h"
#include "neptune/world/loop.h"

namespace search::frontend {

class PageFronts {
 public:
  // `size_max` bytes are divided among the loops, and for each among pages and what is known of
  // requests for them; 0: no page is kept.
  PageFronts(const PageFront::Parts& parts, const PageFront::Options& options, size_t size_max,
             const std::vector<neptune::Loop*>& loops);

  void LogTo(AccessLog& log);

  // Null: the calling loop repeats no pages.
  PageFront* OfThisLoop() const { return Of(neptune::Loop::Current()); }
  // Null: that loop repeats no pages.
  PageFront* Of(const neptune::Loop* loop) const {
    for (const auto& [one, front] : fronts_) {
      if (one == loop) return front.get();
    }
    return nullptr;
  }

  // search_page_cache_entries, search_page_cache_size_bytes, search_page_cache_evictions_total; the
  // metrics must not outlive this.
  neptune::Status Show(neptune::MetricsRegistry& metrics,
                       std::vector<neptune::CallbackGauge>* gauges) const;

  // Pages of all loops.
  uint64_t page_count() const { return Sum(&PageCacheStats::page_count); }
  const std::vector<std::pair<neptune::Loop*, std::unique_ptr<PageFront>>>& all() const {
    return fronts_;
  }

 private:
  uint64_t Sum(std::atomic<uint64_t> PageCacheStats::*field) const;

  std::vector<std::pair<neptune::Loop*, std::unique_ptr<PageFront>>> fronts_;
};

}  // namespace search::frontend
