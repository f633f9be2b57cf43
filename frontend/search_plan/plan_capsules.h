// The dependency capsules that a frontend needs and the cluster spec does not define.
//
// Each partition of the query cache has one: after three consecutive calls that fail or time out
// the partition is bypassed, except for a real call every 100 ms as a probe. A capsule of the spec
// with a rule such as service:cache or service:cache/0 replaces it. What tiers and document servers
// need depends on the cluster; README.md describes how to define it.
//
// Source: [Chu05] IV.C (a cache that answers slowly is bypassed).
// Threads: any loop of the node, before the first search.

#pragma once

#include "frontend/policy/plan_options.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"

namespace search::frontend {

neptune::Status MakePlanCapsules(neptune::CapsuleStack& capsules, const SearchPlanOptions& options);

}  // namespace search::frontend
