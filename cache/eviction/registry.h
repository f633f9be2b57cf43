// Registry of all eviction policies, by the name used in cluster specs.
//
// Threads: pure lookups.
// Errors: INVALID_ARGUMENT for an unknown name, with the known ones.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/eviction/eviction_policy.h"
#include "neptune/base/status.h"

namespace search::cache {

struct EvictionPolicyVariant {
  std::string_view name;
  std::unique_ptr<EvictionPolicy> (*make)(uint64_t size_max);
  // True if entries asked for once do not evict those that are asked for often.
  bool resists_scans = false;
  // True if it prefers entries that take long to make again.
  bool weighs_cost = false;
};

// All variants, in alphabetical order. Add new variants to the array in registry.cc.
std::span<const EvictionPolicyVariant> RegisteredEvictionPolicies();

// Errors: INVALID_ARGUMENT there is no such policy.
neptune::StatusOr<EvictionPolicyVariant> FindEvictionPolicy(std::string_view name);

}  // namespace search::cache
