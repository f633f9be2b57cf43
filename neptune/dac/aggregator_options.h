// Options of a node's aggregations.
//
// Threads: values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/load_estimator.h"
#include "neptune/dac/reduction_place.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/world/network.h"

namespace neptune {

class ServiceHost;

// Returns the host of a service on this node; null if there is none, or if it is not ready.
using FindHost = std::function<ServiceHost*(const ServiceName&)>;

// Makes the load estimator of one calling loop.
using MakeLoadEstimator = std::function<std::unique_ptr<LoadEstimator>()>;

struct AggregatorOptions {
  // Returns the scheme of a service, for calls that do not choose one.
  std::function<TreeScheme(const ServiceName&)> scheme = [](const ServiceName&) {
    return TreeScheme::kLoadAdaptive;
  };
  // Subtracted from each stage's deadline for everything except reductions: network, event queue.
  // Larger: fewer answers arrive too late, but slow servers get less time. Default: 2 ms, ten
  // one-way delays of a cluster's network.
  Duration stage_margin = std::chrono::milliseconds(2);
  // Time after the deadline for which the caller still accepts the root's answer. Default: 3 ms, so
  // that a call ends at most 5 ms after its deadline.
  Duration answer_grace = std::chrono::milliseconds(3);
  // Maximum number of tasks that the node serves at once. Default: 100,000, the number of parked
  // requests that a node is designed for.
  size_t serving_count_max = 100000;
  // See OrderCheck. Default: 16 in debug builds, else none.
#ifdef NDEBUG
  uint32_t recheck_one_in = 0;
#else
  uint32_t recheck_one_in = 16;
#endif
  // Sends a datagram to the endpoints, or to every node if there are none. Required for calls whose
  // tasks are not forwarded.
  std::function<void(std::string bytes, std::vector<Endpoint> to)> send;
  FindHost find_host;
  // Number of servers polled for their load by each call with a load-adaptive tree. The call waits
  // for the answers for at most a twelfth of a mean local operator, and not at all if that is under
  // 200 us; late answers serve the next call. Calls whose reductions together take less than 200 us
  // poll none. Larger: fresher loads, more datagrams. Default: 2,
  // and one of every 8 servers of a larger tree, because each server knows only some of the others'
  // loads. Each answer of a call brings the loads of its servers anyway.
  size_t poll_count = 2;
  // Source address of polls.
  Endpoint poll_bind = {kLoopbackAddress, 0};
  // Place of the reductions on nodes with own partitions; set by experiments only (README.md).
  // Empty: the loop and the pool, by the operator's grain.
  MakeReductionPlace reduction_place;
  MakeLoadEstimator make_load_estimator = [] { return std::make_unique<LoadEstimator>(); };
};

}  // namespace neptune
