// Definition of a capsule: name, rules, bounds, policy.
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
// The network capsule for operations that match no rule; it always exists.
inline constexpr std::string_view kDefaultCapsule = "default";
// A timeout that never expires.
inline constexpr Duration kNoTimeout = Duration::max();

struct CapsuleConfig {
  std::string name;
  ResourceType type = ResourceType::kNetwork;
  // Empty for the default capsule only.
  std::vector<ClassificationRule> rules;
  CapsuleLimits limits;
  // Maximum number of calls with the dependency at once; the others inside wait for their turn. For
  // a device capsule also its number of helper threads. 0: no limit beyond resident_count_max
  // (network), 4 (device).
  size_t processing_count_max = 0;
  FeedbackOptions feedback;
  PolicyConfig policy;
  // The capsule that a call enters instead of being refused or bypassed; empty: none.
  std::string migrate_to;
};

// Validates names, rules, bounds and policy. Errors: kInvalidArgument.
Status CheckCapsuleConfig(const CapsuleConfig& config);

// The default capsule if no file defines it: 100,000 calls inside, as many as there may be
// user-level threads, and no timeout of its own.
CapsuleConfig DefaultCapsuleConfig();

// A rule that never matches because a rule above it takes all of its operations, or that partly
// overlaps another capsule's rule above it.
struct RuleConflict {
  size_t capsule = 0;  // 0-based index in the stack
  size_t rule = 0;     // index of the rule in that capsule
  size_t above = 0;    // index of the capsule with the upper rule
  std::string text;
};
// Returns at most one conflict per rule.
std::vector<RuleConflict> RuleConflicts(const std::vector<CapsuleConfig>& stack);

}  // namespace neptune
