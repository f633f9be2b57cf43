// Makes a failing list, such as a FaultSchedule, shorter while it still fails.
//
// Source: delta debugging [Zeller02]: drops halves, then quarters, then single items.
// Departs from source: complements only, which is what its later rounds come down to.
// Threads: none.
// Limits: at most `runs_max` calls of `fails`; the shortest list found so far is the result.

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace neptune {

// Returns a part of `items`, in their order, for which `fails` is true.
// REQUIRES: it is true for `items`.
template <typename T>
std::vector<T> Shrink(std::vector<T> items, const std::function<bool(const std::vector<T>&)>& fails,
                      int runs_max) {
  size_t size = (items.size() + 1) / 2;
  for (size_t first = 0; size > 0 && runs_max > 0; --runs_max) {
    std::vector<T> rest = items;
    const size_t end = std::min(items.size(), first + size);
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(first),
               rest.begin() + static_cast<ptrdiff_t>(end));
    if (end > first && fails(rest)) {
      items = std::move(rest);
    } else {
      first = end;
    }
    if (first < items.size()) continue;
    first = 0;
    if (size == 1) break;
    size = (size + 1) / 2;
  }
  return items;
}

}  // namespace neptune
