// The dependency capsules that a frontend needs and the cluster spec does not define.
//
// Each partition of the query cache has one: three calls in a row that fail or time out, and it is passed by, but for
// a real call every 100 ms as a probe. A capsule of the spec with a rule such as service:cache or service:cache/0 takes
// its place. What tiers and document servers need depends on the cluster; README.md says how to define it.
//
// Source: [Chu05] IV.C (a cache that answers slowly is bypassed).
// Threads: any loop of the node, before the first search.

#pragma once

#include "frontend/search_plan/plan_options.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"

namespace search::frontend {

neptune::Status MakePlanCapsules(neptune::CapsuleStack& capsules, const SearchPlanOptions& options);

}  // namespace search::frontend
