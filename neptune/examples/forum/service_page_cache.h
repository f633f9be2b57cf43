// A page cache that is a service: pages are distributed over its partitions by name.
//
// Source: [Chu05] VI.A (two partitioned document cache servers).
// Threads: see page_cache.h, also for errors.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/forum/page_cache.h"

namespace neptune::examples {

inline constexpr char kPageCacheService[] = "page_cache";
inline constexpr char kFindPageMethod[] = "Find";
inline constexpr char kStorePageMethod[] = "Store";
inline constexpr char kDropPageMethod[] = "Drop";

std::unique_ptr<PageCache> MakeServicePageCache();

}  // namespace neptune::examples
