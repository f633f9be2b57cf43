// Compares eviction policies over one trace and a list of cache sizes.
//
// Threads: pure functions; `note` is called before each simulation.
// Errors: INVALID_ARGUMENT names the option; RESOURCE_EXHAUSTED too many simulations.
// Limits: kSimulationCountMax simulations, one after another.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/eviction/registry.h"
#include "neptune/base/status.h"
#include "tools/cache_sim/cache_trace.h"
#include "tools/cache_sim/simulation.h"

namespace search::tools {

// A cache size: bytes, or a share of what all distinct values of the trace take.
struct CacheSize {
  std::string text;  // as it was given
  uint64_t bytes = 0;
  double share = 0;  // 0: bytes counts
};
// "1%", "0.05%", "64MiB", "500KiB", "2GiB" or "100000" (bytes).
neptune::StatusOr<CacheSize> ParseCacheSize(std::string_view text);

struct CachePlan {
  std::vector<cache::EvictionPolicyVariant> policies;
  std::vector<CacheSize> sizes;
  // size_max is set for each size, warmup_count from warmup_share.
  SimulatedCache cache{};
  double warmup_share = 0;
  // Computes Belady's MIN and the bound, which take more memory than policies.
  bool has_optimum = true;
};

// Names of the rows that are not policies.
inline constexpr std::string_view kBeladyRow = "belady";
inline constexpr std::string_view kBoundRow = "bound";
inline constexpr std::string_view kUnlimitedRow = "unlimited";

struct ComparedPolicy {
  std::string name;
  std::vector<CacheOutcome> outcomes;  // one for each size
};

struct CacheComparison {
  std::string trace_name;
  uint64_t request_count = 0;
  uint64_t key_count = 0;
  uint64_t distinct_size = 0;  // with overhead
  double duration_s = 0;
  bool has_costs = false;
  std::vector<std::string> size_names;
  std::vector<uint64_t> sizes;
  std::vector<ComparedPolicy> rows;
};

// `note` is given the name of each row before its simulations.
neptune::StatusOr<CacheComparison> ComparePolicies(
    const CacheTrace& trace, const CachePlan& plan,
    const std::function<void(std::string_view)>& note);

}  // namespace search::tools
