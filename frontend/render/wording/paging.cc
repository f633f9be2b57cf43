#include "frontend/render/wording/paging.h"

#include <algorithm>
#include <utility>

#include "frontend/model/search_request.h"

namespace search::frontend {
namespace {

// Number of results that paging can reach.
uint64_t ReachableCount(const SearchAnswer& answer) {
  return std::min<uint64_t>(answer.total, answer.reachable_count_max);
}

}  // namespace

uint32_t FirstPageSize(const SearchAnswer& answer) {
  const uint32_t count = std::max<uint32_t>(answer.count, 1);
  if (answer.start == 0) return std::max(answer.covered_count, count);
  const bool is_known = answer.first_page_size > 0 && answer.first_page_size <= answer.start;
  return is_known ? answer.first_page_size : std::min(count, answer.start);
}

SearchPageRequest RequestOfPage(const SearchAnswer& answer, uint32_t start, PageFormat format) {
  SearchPageRequest request{.query = answer.searched_query(),
                            .start = start,
                            .count = answer.count,
                            .format = format,
                            .explain = answer.with_explanations,
                            .site_facets = answer.site_facets.has_value(),
                            .by_date = answer.by_date,
                            .is_plain = answer.is_plain,
                            .may_correct = answer.may_correct && answer.corrected_query.empty(),
                            .may_relax = answer.may_relax,
                            .timeout = answer.timeout};
  request.fold = answer.fold;
  const uint32_t first = FirstPageSize(answer);
  if (start > 0 && first != answer.count) request.first = first;
  return request;
}

SearchPageRequest RequestForQuery(const SearchAnswer& answer, std::string query,
                                  PageFormat format) {
  SearchPageRequest request = RequestOfPage(answer, 0, format);
  request.query = std::move(query);
  request.explain = false;
  request.may_correct = answer.may_correct;
  return request;
}

Paging ComputePaging(const SearchAnswer& answer) {
  Paging paging;
  const uint32_t count = std::max<uint32_t>(answer.count, 1);
  const uint64_t reachable = ReachableCount(answer);
  const uint64_t start_max =
      std::min<uint64_t>(reachable == 0 ? 0 : reachable - 1, SearchRequestLimits::kStartMax);
  // The first page covers this many ranked results, all others `count`.
  const uint64_t first_size = FirstPageSize(answer);
  const auto page_of = [&](uint64_t start) {
    return start < first_size ? 1 : (start - first_size) / count + 2;
  };
  const auto start_of = [&](uint64_t page) {
    return page <= 1 ? 0 : static_cast<uint32_t>(first_size + (page - 2) * count);
  };
  const uint64_t page_count = page_of(start_max);
  const uint64_t current = page_of(answer.start);

  if (answer.start > 0) {
    const uint64_t before = answer.start < first_size + count ? 0 : answer.start - count;
    paging.previous = static_cast<uint32_t>(std::min<uint64_t>(before, start_of(page_count)));
    paging.first = 0;
  }
  const uint64_t next = answer.start == 0 ? first_size : uint64_t{answer.start} + count;
  if (next <= start_max) paging.next = static_cast<uint32_t>(next);
  if (page_count <= 1) return paging;

  const uint64_t anchor = std::min(current, page_count);
  uint64_t low = anchor > kPageLinksMax / 2 ? anchor - kPageLinksMax / 2 : 1;
  const uint64_t high = std::min(page_count, low + kPageLinksMax - 1);
  low = high >= kPageLinksMax ? std::min(low, high - kPageLinksMax + 1) : 1;
  for (uint64_t number = low; number <= high; ++number) {
    paging.pages.push_back({number, start_of(number), number == current});
  }
  return paging;
}

}  // namespace search::frontend
