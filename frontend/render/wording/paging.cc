#include "frontend/render/wording/paging.h"

#include <algorithm>

#include "frontend/model/search_request.h"

namespace search::frontend {
namespace {

// Number of results that paging can reach.
uint64_t ReachableCount(const SearchAnswer& answer) {
  return std::min<uint64_t>(answer.total, answer.reachable_count_max);
}

}  // namespace

Paging ComputePaging(const SearchAnswer& answer) {
  Paging paging;
  const uint32_t count = std::max<uint32_t>(answer.count, 1);
  const uint64_t reachable = ReachableCount(answer);
  const uint64_t start_max =
      std::min<uint64_t>(reachable == 0 ? 0 : reachable - 1, SearchRequestLimits::kStartMax);
  const uint64_t page_count = start_max / count + 1;
  const uint64_t current = uint64_t{answer.start} / count + 1;

  if (answer.start > 0) {
    const uint64_t last_start = (page_count - 1) * count;
    paging.previous = static_cast<uint32_t>(
        std::min<uint64_t>(answer.start - std::min(answer.start, count), last_start));
    paging.first = 0;
  }
  if (uint64_t{answer.start} + count <= start_max) paging.next = answer.start + count;
  if (page_count <= 1) return paging;

  const uint64_t anchor = std::min(current, page_count);
  uint64_t low = anchor > kPageLinksMax / 2 ? anchor - kPageLinksMax / 2 : 1;
  const uint64_t high = std::min(page_count, low + kPageLinksMax - 1);
  low = high >= kPageLinksMax ? std::min(low, high - kPageLinksMax + 1) : 1;
  for (uint64_t number = low; number <= high; ++number) {
    paging.pages.push_back(
        {number, static_cast<uint32_t>((number - 1) * count), number == current});
  }
  return paging;
}

}  // namespace search::frontend
