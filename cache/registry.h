// Registry of all query cache variants, by the name used in cluster specs.
//
// Threads: pure lookups.
// Errors: MakeResultCache gives INVALID_ARGUMENT for an unknown name, with the known ones, and for
//   options out of range.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

struct ResultCacheVariant {
  std::string_view name;
  neptune::StatusOr<std::unique_ptr<ResultCache>> (*make)(const ResultCacheOptions& options);
  // True if the variant requires a running server at ResultCacheOptions::server.
  bool needs_server = false;
};

// All variants, in alphabetical order. Add new variants to the array in registry.cc.
std::span<const ResultCacheVariant> RegisteredResultCaches();
// Their names.
std::vector<std::string> ResultCacheNames();

// Makes a cache of variant `implementation`. It is empty unless the variant outlives processes.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeResultCache(std::string_view implementation,
                                                                const ResultCacheOptions& options);

}  // namespace search::cache
