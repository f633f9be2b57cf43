// Which servers each service class may use, decided for the whole cluster at intervals: the approach that nodes which serve
// all classes (class_scheduler.h) are compared with.
//
//   demand of each class ─► AllocateServers: servers and fractions of one ─► PartitionServers
//
//   gold    1.6   ▒              s0        ┐
//   silver  4.8   ▒▒▒▒           s1 to s4  ├  shared by the fractions .6, .8, .6:  ▒▒  s14, s15
//   bronze  9.6   ▒▒▒▒▒▒▒▒▒      s5 to s13 ┘
//
//   the demand fits     each class gets what it demands, and of the rest as large a part as of the demand
//   it does not         each gets what it demands, at most its guarantee; the rest goes to the classes with the largest
//                       yield for what they consume first, to each up to its demand
//
// Within the servers of a class a policy of neptune/balancing chooses (CallOptions::except); which of its two pools a
// request goes to, chance decides, so that each pool gets its part of the class.
//
// Source: [Shen02] 4.3, "An Alternative Approach for Comparison".
// Departs from source: servers stay with their class as far as its allocation allows. A class without an allocation uses
//   the shared servers, if there are any.
// No I/O, no clock, no threads.
// Threads: pure functions and values.
// Units: servers. Limits: kServiceClassCountMax classes; O(classes * servers).

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/service_class.h"

namespace neptune {

inline constexpr Duration kServerPartitioningInterval = std::chrono::seconds(10);

// What is known of a class when servers are divided.
struct ClassDemand {
  // Servers that would be kept busy by what came in the last interval.
  double servers = 0;
  // Of all servers.
  double guarantee = 0;
  // Full yield by mean consumption, in any unit that is the same for all.
  double yield_rate = 0;
};

// How many servers each class gets, fractions included: all of them together, unless nobody demands any.
// REQUIRES: nothing is negative; guarantees add up to at most 1.
std::vector<double> AllocateServers(const std::vector<ClassDemand>& demands, size_t server_count);

struct ServerPartition {
  struct ForClass {
    std::vector<NodeId> dedicated = {};
    // Of the shared servers.
    double fraction = 0;
  };
  std::vector<ForClass> classes;
  std::vector<NodeId> shared;

  // Where a request of the class goes; `chance` is uniform in [0, 1). Empty: there is no server for it.
  const std::vector<NodeId>& ServersFor(ClassNumber number, double chance) const;
};

// Divides the servers; with `before`, those that are still there stay with their class as far as possible.
// REQUIRES: the allocation is AllocateServers' for as many servers.
ServerPartition PartitionServers(const std::vector<double>& allocation,
                                 const std::vector<NodeId>& servers,
                                 const ServerPartition& before = {});

}  // namespace neptune
