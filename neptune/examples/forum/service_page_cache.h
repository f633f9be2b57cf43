// The page cache that is a service: pages are spread over its partitions by name.
//
// Parameters of the forum:
//   cache_partitions   how many partitions the service page_cache has. Default: 2.
//
// Source: [Chu05] VI.A (two partitioned document cache servers).
// Threads: as page_cache.h says, and errors too.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/forum/page_cache.h"

namespace neptune::examples {

inline constexpr char kPageCacheService[] = "page_cache";
inline constexpr char kFindPageMethod[] = "Find";
inline constexpr char kStorePageMethod[] = "Store";
inline constexpr char kDropPageMethod[] = "Drop";

StatusOr<std::unique_ptr<PageCache>> MakeServicePageCache(const ModuleContext& context);

}  // namespace neptune::examples
