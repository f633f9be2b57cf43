#include "neptune/dac/placement.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "neptune/dac/few_servers.h"

namespace neptune {

Placement PlacePartitions(LoopClient& client, const ServiceName& service,
                          std::vector<PartitionId> partitions, TimePoint deadline,
                          const std::vector<NodeId>& others) {
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  Placement placement;
  const ReplicaChooser::Plan plan(client.chooser());
  FewServers few(others);
  for (const PartitionId& partition : partitions) {
    few.Expect(client.view().Replicas(service, partition));
  }
  std::map<NodeId, size_t> member_of_node;
  for (const PartitionId& partition : partitions) {
    const std::shared_ptr<const YellowPageView> view = client.shared_view();
    const std::vector<Replica>& replicas = view->Replicas(service, partition);
    if (replicas.empty()) {
      placement.missing.push_back(
          {partition, Unavailable("no live replica of ", service, "/", partition)});
      continue;
    }
    const std::vector<size_t> preferred = few.Preferred(replicas);
    const ReplicaHints hints = {.preferred = preferred,
                                .call_share = 1.0 / static_cast<double>(partitions.size())};
    const std::optional<ReplicaChoice> choice =
        client.chooser().Choose(service, partition, replicas, {}, deadline, hints);
    few.Place(replicas, choice->index);
    const Replica& replica = replicas[choice->index];
    const auto [found, is_new] = member_of_node.emplace(replica.node, placement.members.size());
    if (is_new) placement.members.push_back({replica.node, replica.call_endpoint, {}, 0});
    placement.members[found->second].partitions.push_back(partition);
    placement.choices.emplace_back(found->second, *choice);
  }
  return placement;
}

}  // namespace neptune
