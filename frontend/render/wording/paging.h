// The page links of an answer: a bounded window around the current page.
//
// Threads: pure function.
// Limits: kPageLinksMax numbered pages; no link leads beyond the last reachable result.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"

namespace search::frontend {

inline constexpr size_t kPageLinksMax = 9;

struct PageLink {
  uint64_t number = 1;  // 1-based
  uint32_t start = 0;   // index of its first result
  bool is_current = false;
};

struct Paging {
  // The window of numbered pages, ascending; the first page may be outside. Empty if there is one
  // page.
  std::vector<PageLink> pages;
  // Start of each of these pages, if the page exists.
  std::optional<uint32_t> first;
  std::optional<uint32_t> previous;
  std::optional<uint32_t> next;
};

Paging ComputePaging(const SearchAnswer& answer);

// Number of ranked results that the first page covers: more than `count` if it folds.
uint32_t FirstPageSize(const SearchAnswer& answer);

// The request for the page of the same answer that begins at `start`, in that format. Of a
// corrected question it is the correction, which is not corrected again.
SearchPageRequest RequestOfPage(const SearchAnswer& answer, uint32_t start,
                                PageFormat format = PageFormat::kHtml);

// The request for the first page of another question, asked as this one was: its syntax, order,
// counts by site, folding, spelling and relaxing; scores are not explained.
SearchPageRequest RequestForQuery(const SearchAnswer& answer, std::string query,
                                  PageFormat format = PageFormat::kHtml);

}  // namespace search::frontend
