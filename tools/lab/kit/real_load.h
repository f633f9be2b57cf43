// The load of sim_cluster.h on nodes with kernel threads and real sockets.
//
//   plan: the requests that RunLoad draws from the same seed, distributed over the clients
//   nodes: all in this process, each with a world of its own; they find each other by multicast and
//          datagrams on loopback
//
// The servers' processors are emulated: a request sleeps while it holds the only processor of its
// server. Many nodes therefore fit on few real processors if service times are well above a
// millisecond.
//
// Threads: the calling thread blocks; each node has several kernel threads. Concurrent runs disturb
//   each other.
// Errors: kUnavailable a node did not start, or the clients did not find all servers.

#pragma once

#include "neptune/base/status.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {

// Ignores the options network, slow_datagrams, absent and slowness, which describe the simulated
// model.
// REQUIRES: the policy is not "ideal"; the true queue lengths are unknown here.
neptune::StatusOr<SimLoadResult> RunRealLoad(const SimClusterOptions& options,
                                             const SimLoadOptions& load, uint64_t seed);

}  // namespace search::lab
