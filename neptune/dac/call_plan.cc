#include "neptune/dac/call_plan.h"

#include <algorithm>
#include <utility>

namespace neptune {

std::vector<TreeMember> CallPlan::Members() const {
  std::vector<TreeMember> members;
  members.reserve(tree.order.size());
  for (const size_t member : tree.order) {
    members.push_back(placement.members[member]);
    members.back().child_count = tree.servers[member].child_count;
  }
  return members;
}

std::vector<Subtree> CallPlan::CallersChildren(TimePoint now) const {
  // The root is the caller's only child, so a reduction in progress at its deadline still fits.
  // If the scheme forms no tree, no server reduces.
  const bool is_tree = scheme != TreeScheme::kBase;
  const bool is_staged = is_tree && wire.timeouts != TimeoutPolicy::kUniform;
  const TimePoint last =
      std::max(deadline - wire.stage_margin - (is_staged ? wire.reduce_time : Duration(0)), now);
  std::vector<TreeMember> members = Members();
  std::vector<Subtree> children;
  if (members.empty()) return children;
  if (is_tree) {
    children.push_back({std::move(members), last});
    return children;
  }
  for (TreeMember& member : members) {
    children.push_back({{}, last});
    children.back().members.push_back(std::move(member));
  }
  return children;
}

}  // namespace neptune
