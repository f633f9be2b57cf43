// The plan of one aggregation: its servers, their loads, its tree and its deadlines.
//
// Threads: an immutable value once the call has begun.
// Shapes: loads, tree and work have one entry for each member of the placement.

#pragma once

#include <vector>

#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/call_stages.h"
#include "neptune/dac/call_tree.h"
#include "neptune/dac/node_task.h"
#include "neptune/dac/placement.h"
#include "neptune/dac/reduction_tree.h"

namespace neptune {

struct CallPlan {
  TreeScheme scheme = TreeScheme::kBase;
  TimePoint deadline;
  AggregationPlan wire;  // what its tasks say
  Placement placement;
  std::vector<TreeServer> loads;
  CallTree tree;
  std::vector<Duration> work;  // assigned to each server
  CallStages::Stage stage;

  // The members in preorder, with the numbers of their children.
  std::vector<TreeMember> Members() const;
  // The subtrees below the caller: the whole tree, or every server if the scheme forms no tree.
  std::vector<Subtree> CallersChildren(TimePoint now) const;
};

}  // namespace neptune
