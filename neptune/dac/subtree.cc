#include "neptune/dac/subtree.h"

#include <algorithm>

namespace neptune {

void AppendPartitions(const std::vector<TreeMember>& members,
                      std::vector<PartitionId>* partitions) {
  for (const TreeMember& member : members) {
    partitions->insert(partitions->end(), member.partitions.begin(), member.partitions.end());
  }
}

void AddToLeaf(const NodeId& node, const Endpoint& at, PartitionId partition,
               std::vector<TreeMember>* leaves) {
  const auto same = [&](const TreeMember& leaf) { return leaf.node == node; };
  auto leaf = std::find_if(leaves->begin(), leaves->end(), same);
  if (leaf == leaves->end()) leaf = leaves->insert(leaves->end(), {node, at, {}, 0});
  leaf->partitions.push_back(partition);
}

std::vector<TreeMember> WithoutRoot(const std::vector<TreeMember>& lost,
                                    const std::vector<TreeMember>& leaves) {
  std::vector<TreeMember> members(lost.begin() + 1, lost.end());
  members.insert(members.end(), leaves.begin(), leaves.end());
  if (members.empty()) return members;
  const size_t subtree_count = lost.front().child_count + leaves.size();
  members.front().child_count += static_cast<uint16_t>(subtree_count - 1);
  return members;
}

}  // namespace neptune
