// What defines a capsule: name, rules, bounds, policy.
//
// Source: [Chu05] IV.D (parameters of a capsule).
// Departs from source: a capsule's name is unique by itself, not only within its resource category.
// Threads: pure functions.
// Errors: kInvalidArgument.
// Limits: kCapsuleCountMax capsules, kCapsuleRuleCountMax rules each.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/capsule/capsule_control.h"
#include "neptune/capsule/capsule_policy.h"
#include "neptune/capsule/classification_rule.h"

namespace neptune {

inline constexpr size_t kCapsuleCountMax = 256;
inline constexpr size_t kCapsuleRuleCountMax = 256;
inline constexpr size_t kCapsuleNameSizeMax = 63;
inline constexpr size_t kResidentCountMaxMax = 10'000'000;
inline constexpr size_t kDeviceProcessingCountMax = 1024;
// The network capsule that takes what no rule takes; it is always there.
inline constexpr std::string_view kDefaultCapsule = "default";
// A timeout that never passes.
inline constexpr Duration kNoTimeout = Duration::max();

struct CapsuleConfig {
  std::string name;
  ResourceType type = ResourceType::kNetwork;
  // None: of the default capsule only.
  std::vector<ClassificationRule> rules;
  CapsuleLimits limits;
  // Most calls that are with the dependency at once; the others inside wait their turn. Of a device capsule the number
  // of its helper threads. 0: as many as are inside (network), 4 (device).
  size_t processing_count_max = 0;
  FeedbackOptions feedback;
  PolicyConfig policy;
  // The capsule that a call enters instead of being refused or bypassed; empty: none.
  std::string migrate_to;
};

// Whether a capsule can be made of it. Errors: kInvalidArgument.
Status CheckCapsuleConfig(const CapsuleConfig& config);

// The default capsule where nothing else is said: room for as many calls as there may be user-level threads, and no
// timeout of its own.
CapsuleConfig DefaultCapsuleConfig();

// A rule that takes nothing because another one above it takes all of its operations, or that shares operations with
// another capsule's rule above it although neither is a part of the other.
struct RuleConflict {
  size_t capsule = 0;  // 0-based in the stack, and its rule
  size_t rule = 0;
  size_t above = 0;  // the capsule of the rule above it
  std::string text;
};
// At most one for each rule.
std::vector<RuleConflict> RuleConflicts(const std::vector<CapsuleConfig>& stack);

}  // namespace neptune
