#include "neptune/dac/few_servers.h"

#include <algorithm>

namespace neptune {
namespace {

// The replicas with the highest rank; empty if all have the same.
template <typename Rank>
std::vector<size_t> Highest(const std::vector<Replica>& replicas, const Rank& rank) {
  std::vector<size_t> highest;
  size_t best = 0;
  for (size_t i = 0; i < replicas.size(); ++i) {
    const size_t own = rank(replicas[i].node);
    if (own < best) continue;
    if (own > best) highest.clear();
    best = own;
    highest.push_back(i);
  }
  if (highest.size() == replicas.size()) highest.clear();
  return highest;
}

}  // namespace

void FewServers::Expect(const std::vector<Replica>& replicas) {
  for (const Replica& replica : replicas) ++unplaced_[replica.node];
}

std::vector<size_t> FewServers::Preferred(const std::vector<Replica>& replicas) const {
  std::vector<size_t> preferred =
      Highest(replicas, [this](const NodeId& node) -> size_t { return asked_.contains(node); });
  // Among servers that are asked anyway the loads decide.
  const bool all_are_asked =
      preferred.empty() && !replicas.empty() && asked_.contains(replicas.front().node);
  if (!preferred.empty() || all_are_asked) return preferred;
  preferred = Highest(replicas, [this](const NodeId& node) {
    const auto found = unplaced_.find(node);
    return found == unplaced_.end() ? size_t{0} : found->second;
  });
  if (!preferred.empty()) return preferred;
  return Highest(replicas, [this](const NodeId& node) -> size_t { return IsAskedByOther(node); });
}

void FewServers::Place(const std::vector<Replica>& replicas, size_t chosen) {
  for (const Replica& replica : replicas) {
    const auto found = unplaced_.find(replica.node);
    if (found != unplaced_.end() && found->second > 0) --found->second;
  }
  asked_.insert(replicas[chosen].node);
}

bool FewServers::IsAskedByOther(const NodeId& node) const {
  return std::find(others_.begin(), others_.end(), node) != others_.end();
}

}  // namespace neptune
