// Assigns servers to service classes at intervals, for the whole cluster: the baseline against
// which nodes that serve all classes (class_scheduler.h) are compared.
//
//   demand of each class ─► AllocateServers: servers and fractions of one ─► PartitionServers
//
//   gold    1.6   ▒              s0        ┐
//   silver  4.8   ▒▒▒▒           s1 to s4  ├  shared with fractions .6, .8, .6:  ▒▒  s14, s15
//   bronze  9.6   ▒▒▒▒▒▒▒▒▒      s5 to s13 ┘
//
//   demand fits        each class gets its demand, and the rest in proportion to the demand
//   demand too large   each class gets its demand up to its guarantee; the rest goes to the classes
//                      with the largest yield per consumption first, to each up to its demand
//
// A policy of neptune/balancing chooses among the servers of a class (CallOptions::except). Which
// of its two pools a request uses is random, in proportion to the pools' parts of the class.
//
// Source: [Shen02] 4.3, "An Alternative Approach for Comparison".
// Departs from source: servers stay with their class as far as its allocation allows. A class
//   without an allocation uses the shared servers, if there are any.
// No I/O, no clock, no threads.
// Threads: pure functions and values.
// Units: servers.
// Limits: kServiceClassCountMax classes; O(classes * servers).

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/service_class.h"

namespace search::lab {

inline constexpr neptune::Duration kServerPartitioningInterval = std::chrono::seconds(10);

// Input of the allocation for one class.
struct ClassDemand {
  // Number of servers that the arrivals of the last interval would keep busy.
  double servers = 0;
  // Guaranteed share of all servers.
  double guarantee = 0;
  // Full yield divided by mean consumption, in any unit common to all classes.
  double yield_rate = 0;
};

// Returns the number of servers for each class, with fractions: all servers together, unless there
// is no demand at all. REQUIRES: no value is negative; guarantees add up to at most 1.
std::vector<double> AllocateServers(const std::vector<ClassDemand>& demands, size_t server_count);

struct ServerPartition {
  struct ForClass {
    std::vector<neptune::NodeId> dedicated = {};
    // Fraction of the shared servers.
    double fraction = 0;
  };
  std::vector<ForClass> classes;
  std::vector<neptune::NodeId> shared;

  // Servers for a request of the class; `chance` is uniform in [0, 1). Empty: there is no server
  // for it.
  const std::vector<neptune::NodeId>& ServersFor(neptune::ClassNumber number, double chance) const;
};

// Divides the servers; with `before`, servers that are still there stay with their class as far as
// possible. REQUIRES: `allocation` is a result of AllocateServers for the same number of servers.
ServerPartition PartitionServers(const std::vector<double>& allocation,
                                 const std::vector<neptune::NodeId>& servers,
                                 const ServerPartition& before = {});

}  // namespace search::lab
