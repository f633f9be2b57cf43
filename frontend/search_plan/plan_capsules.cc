#include "frontend/search_plan/plan_capsules.h"

#include <algorithm>
#include <string>

#include "cache/cache_service.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::CapsuleConfig;
using neptune::ClassificationRule;
using neptune::NetworkOperation;
using neptune::PartitionId;
using neptune::Status;
using neptune::StrCat;

constexpr size_t kFailuresInARow = 3;

neptune::StatusOr<CapsuleConfig> CacheCapsule(uint32_t partition,
                                              const SearchPlanOptions& options) {
  CapsuleConfig config;
  config.name = StrCat(cache::kCacheService, "-", partition);
  NEPTUNE_ASSIGN_OR_RETURN(auto rule, ClassificationRule::Parse(StrCat(
                                          "service:", cache::kCacheService, "/", partition)));
  config.rules.push_back(std::move(rule));
  config.limits.resident_count_max = options.search_count_max + options.cache_insert_count_max;
  config.limits.timeout = std::max(options.cache_timeout, options.cache_insert_timeout);
  config.feedback.failure_count_max = kFailuresInARow;
  return config;
}

}  // namespace

Status MakePlanCapsules(neptune::CapsuleStack& capsules, const SearchPlanOptions& options) {
  for (uint32_t partition = 0; partition < options.cache_partitions; ++partition) {
    const NetworkOperation lookup{.service = cache::kCacheService,
                                  .partition = PartitionId(partition)};
    if (capsules.Find(lookup)->name() != neptune::kDefaultCapsule) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const CapsuleConfig config, CacheCapsule(partition, options));
    NEPTUNE_RETURN_IF_ERROR(capsules.Create(config));
  }
  return neptune::OkStatus();
}

}  // namespace search::frontend
