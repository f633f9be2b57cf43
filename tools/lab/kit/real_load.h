// The load of sim_cluster.h on nodes with kernel threads and real sockets.
//
//   plan: the requests that RunLoad draws from the same seed, dealt to the clients
//   nodes: all in this process, each with a world of its own; they meet by multicast and datagrams on loopback
//
// The servers' processors are emulated: a request sleeps while it holds its server's only one. So many nodes fit on few
// real processors as long as service times are well above a millisecond.
//
// Threads: the caller's waits; some kernel threads a node. Several runs at once disturb each other.
// Errors: kUnavailable a node did not start, or the clients do not find all servers.

#pragma once

#include "neptune/base/status.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {

// Of the options what describes a model counts for nothing here: network, slow_datagrams, absent; neither does
// slowness.
// REQUIRES: the policy is not "ideal": nobody knows the true queues here.
neptune::StatusOr<SimLoadResult> RunRealLoad(const SimClusterOptions& options,
                                             const SimLoadOptions& load, uint64_t seed);

}  // namespace search::lab
