// The query caches there are, by the name that a cluster spec uses. The one list of variants.
//
// Threads: pure lookups.
// Errors: MakeResultCache gives INVALID_ARGUMENT for an unknown name, with the known ones, and for
//   options out of range.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

struct ResultCacheVariant {
  std::string_view name;
  neptune::StatusOr<std::unique_ptr<ResultCache>> (*make)(const ResultCacheOptions& options);
  // Whether it asks a server, ResultCacheOptions::server, which has to run.
  bool needs_server = false;
};

// Every variant, in alphabetical order. A new one is added to the array in registry.cc.
std::span<const ResultCacheVariant> RegisteredResultCaches();

// A cache of variant `implementation`, empty unless the variant outlives processes.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeResultCache(std::string_view implementation,
                                                                const ResultCacheOptions& options);

}  // namespace search::cache
