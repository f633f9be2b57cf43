#include "cache/registry.h"

#include <string>

#include "cache/memory/memory_cache.h"
#include "cache/redis/redis_cache.h"

namespace search::cache {

std::span<const ResultCacheVariant> RegisteredResultCaches() {
  static constexpr ResultCacheVariant kVariants[] = {
      {kMemoryCacheName, &MakeMemoryCache},
      {kRedisCacheName, &MakeRedisCache, true},
  };
  return kVariants;
}

std::vector<std::string> ResultCacheNames() {
  std::vector<std::string> names;
  for (const ResultCacheVariant& variant : RegisteredResultCaches())
    names.emplace_back(variant.name);
  return names;
}

neptune::StatusOr<std::unique_ptr<ResultCache>> MakeResultCache(std::string_view implementation,
                                                                const ResultCacheOptions& options) {
  std::string known;
  for (const ResultCacheVariant& variant : RegisteredResultCaches()) {
    if (variant.name == implementation) return variant.make(options);
    neptune::StrAppend(&known, known.empty() ? "" : ", ", variant.name);
  }
  return neptune::InvalidArgument("unknown result cache '", implementation, "'; known: ", known);
}

}  // namespace search::cache
