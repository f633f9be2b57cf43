// What all aggregations of a node share: its client, its costs, counters, and the budgets for
// asking servers again.
//
// Threads: thread-safe.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/load_gossip.h"
#include "neptune/dac/operator_times.h"
#include "neptune/dac/reducer.h"
#include "neptune/dac/reduction_place.h"
#include "neptune/service/client.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/retry_budget.h"

namespace neptune {

struct AggregationCounters {
  Counter* pruned_children = nullptr;   // no answer by the deadline, or cancelled
  Counter* adopted_children = nullptr;  // children of a lost child
  Counter* lost_datagrams = nullptr;    // children that did not receive their datagram
  Counter* silent_children = nullptr;   // children that did not accept their task in time
  Counter* moved_partitions = nullptr;  // partitions moved to another replica
  Counter* order_errors = nullptr;      // operators found not to be commutative

  static StatusOr<AggregationCounters> Make(MetricsRegistry& metrics);
};

struct AggregationEnvironment {
  NodeId node;
  int processor_count = 1;
  NodeLoops& loops;
  Client& client;
  CostMeter& costs;
  LoadGossip& gossip;
  AggregationCounters counters;
  OrderCheck order_check;
  MakeReductionPlace reduction_place;
  // A child that has not accepted its task after this time is replaced. Larger: tolerates busy
  // nodes longer, but a hung node costs more time. Default: 50 ms, ten times the delay after which
  // a server accepts.
  Duration accept_timeout = std::chrono::milliseconds(50);
  // Budget for replacing silent children and children whose capsule timed out, so that a busy
  // cluster is not loaded further: one in ten aggregations, and ten at once.
  RetryBudget give_up_budget{0.1, 10};
  // Retry budget for children lost after being asked. The burst covers everything one dead node
  // leaves behind.
  RetryBudget loss_budget{0.1, 50};
  OperatorTimes operator_times = {};
};

}  // namespace neptune
