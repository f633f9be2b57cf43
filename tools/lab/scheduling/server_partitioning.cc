#include "tools/lab/scheduling/server_partitioning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace search::lab {
namespace {

using neptune::ClassNumber;
using neptune::NodeId;

// In servers; sums of fractions have rounding errors.
constexpr double kNegligible = 1e-6;

double TotalDemand(const std::vector<ClassDemand>& demands) {
  double total = 0;
  for (const ClassDemand& one : demands) total += one.servers;
  return total;
}

std::vector<ClassNumber> ByYieldRate(const std::vector<ClassDemand>& demands) {
  std::vector<ClassNumber> order(demands.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](ClassNumber one, ClassNumber other) {
    return demands[one].yield_rate > demands[other].yield_rate;
  });
  return order;
}

// Removes `server` from the list; returns false if it is not in it.
bool Take(const NodeId& server, std::vector<NodeId>* from) {
  const auto found = std::find(from->begin(), from->end(), server);
  if (found == from->end()) return false;
  from->erase(found);
  return true;
}

}  // namespace

std::vector<double> AllocateServers(const std::vector<ClassDemand>& demands, size_t server_count) {
  const auto count = static_cast<double>(server_count);
  const double total = TotalDemand(demands);
  std::vector<double> allocation;
  if (total <= count) {
    for (const ClassDemand& one : demands) {
      allocation.push_back(total > 0 ? one.servers * count / total : 0);
    }
    return allocation;
  }
  double left = count;
  for (const ClassDemand& one : demands) {
    allocation.push_back(std::min(one.servers, one.guarantee * count));
    left -= allocation.back();
  }
  for (const ClassNumber number : ByYieldRate(demands)) {
    const double more = std::min(std::max(left, 0.0), demands[number].servers - allocation[number]);
    allocation[number] += more;
    left -= more;
  }
  return allocation;
}

const std::vector<NodeId>& ServerPartition::ServersFor(ClassNumber number, double chance) const {
  const ForClass& mine = classes[number];
  const auto dedicated = static_cast<double>(mine.dedicated.size());
  return chance * (dedicated + mine.fraction) < dedicated ? mine.dedicated : shared;
}

ServerPartition PartitionServers(const std::vector<double>& allocation,
                                 const std::vector<NodeId>& servers,
                                 const ServerPartition& before) {
  ServerPartition made;
  made.shared = servers;
  std::vector<size_t> wanted;
  for (ClassNumber number = 0; number < allocation.size(); ++number) {
    const double whole = std::floor(allocation[number] + kNegligible);
    wanted.push_back(static_cast<size_t>(whole));
    made.classes.push_back({.fraction = std::max(allocation[number] - whole, 0.0)});
    if (number >= before.classes.size()) continue;
    for (const NodeId& server : before.classes[number].dedicated) {
      if (made.classes[number].dedicated.size() == wanted[number]) break;
      if (Take(server, &made.shared)) made.classes[number].dedicated.push_back(server);
    }
  }
  for (ClassNumber number = 0; number < allocation.size(); ++number) {
    std::vector<NodeId>& dedicated = made.classes[number].dedicated;
    while (dedicated.size() < wanted[number] && !made.shared.empty()) {
      dedicated.push_back(made.shared.front());
      made.shared.erase(made.shared.begin());
    }
  }
  return made;
}

}  // namespace search::lab
