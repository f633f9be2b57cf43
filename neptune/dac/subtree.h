// Operations on the members of a subtree, which are a preorder: each member is followed by the
// subtrees of its children.
//
// Source: [Chu03] 4. Departs from source: a lost server is replaced by its own first child.
// Threads: pure functions.

#pragma once

#include <vector>

#include "neptune/base/ids.h"
#include "neptune/dac/aggregation_message.h"

namespace neptune {

// Appends the partitions of all members.
void AppendPartitions(const std::vector<TreeMember>& members, std::vector<PartitionId>* partitions);

// Adds a partition to the leaf of that server, which is appended if it is new. A leaf has no
// children.
void AddToLeaf(const NodeId& node, const Endpoint& at, PartitionId partition,
               std::vector<TreeMember>* leaves);

// Returns the subtree without its root. Its first child, which had the largest subtree, becomes the
// root; below it are its siblings, and `leaves`. If the root had no child, the first leaf becomes
// the root. Empty if nothing is left. REQUIRES: `lost` is a subtree.
std::vector<TreeMember> WithoutRoot(const std::vector<TreeMember>& lost,
                                    const std::vector<TreeMember>& leaves);

}  // namespace neptune
