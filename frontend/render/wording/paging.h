// Which pages of an answer are linked: a bounded window around the present one.
//
// Threads: pure function.
// Limits: kPageLinksMax numbered pages; none begins beyond what can be reached.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/answer.h"

namespace search::frontend {

inline constexpr size_t kPageLinksMax = 9;

struct PageLink {
  uint64_t number = 1;  // 1-based
  uint32_t start = 0;   // of its first result
  bool is_current = false;
};

struct Paging {
  // The window of numbered pages, ascending; the first page may be outside. Empty if there is one
  // page.
  std::vector<PageLink> pages;
  // Starts of these pages, if there are such.
  std::optional<uint32_t> first;
  std::optional<uint32_t> previous;
  std::optional<uint32_t> next;
};

Paging ComputePaging(const SearchAnswer& answer);

}  // namespace search::frontend
