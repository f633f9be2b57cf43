// Runs work on a user-level thread of another loop of the node.
//
// Threads: on a user-level thread of any loop of the node.
// Errors: those of ThreadScheduler::Spawn on the other loop; the work has not run then.

#pragma once

#include "absl/functional/function_ref.h"
#include "neptune/base/status.h"
#include "neptune/service/node_loops.h"

namespace neptune {

// Parks until `work` has returned, even while the node stops: `work` may refer to the caller's
// stack. On the calling loop itself `work` runs in place.
Status RunOnThreadOf(NodeLoop& loop, const char* name, absl::FunctionRef<void()> work);

}  // namespace neptune
