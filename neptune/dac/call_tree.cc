#include "neptune/dac/call_tree.h"

#include <numeric>

namespace neptune {

StatusOr<CallTree> FormCallTree(TreeScheme scheme, std::span<const TreeServer> servers,
                                RandomSource& random) {
  CallTree call;
  call.servers.resize(servers.size());
  if (scheme == TreeScheme::kBase || servers.empty()) {
    call.order.resize(servers.size());
    std::iota(call.order.begin(), call.order.end(), size_t{0});
    return call;
  }
  NEPTUNE_ASSIGN_OR_RETURN(const ReductionTree tree, FormTree(scheme, servers, random));
  call.order.reserve(servers.size());
  std::vector<size_t> next{tree.root()};
  while (!next.empty()) {
    const size_t server = next.back();
    next.pop_back();
    call.order.push_back(server);
    const auto children = tree.Children(server);
    call.servers[server] = {tree.parent(server), static_cast<uint16_t>(children.size())};
    next.insert(next.end(), children.rbegin(), children.rend());
  }
  return call;
}

}  // namespace neptune
