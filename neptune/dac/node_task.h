// The task of one node in a call's tree: its own partitions, and the subtrees below it.
//
// The caller of an aggregation has a task too, without own partitions and without a host. Its only
// subtree is the whole tree; in the scheme `base` each server is a subtree.
//
// Source: [Chu03] 4.
// Threads: an immutable value once the aggregation has begun.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/sert/request_holdings.h"
#include "neptune/service/operator_registry.h"
#include "neptune/wire/trace_context.h"

namespace neptune {

class ServiceHost;

// A subtree in preorder, with the deadline of its answer. REQUIRES: it has a member.
struct Subtree {
  std::vector<TreeMember> members;
  TimePoint deadline;
};

struct NodeTask {
  AggregationPlan plan;
  RegisteredReduce reduce;
  ServiceName service;
  std::string service_class;
  TraceContext trace;
  bool retried = false;                 // as in RequestHeader
  std::chrono::microseconds waited{0};  // as in RequestHeader
  TimePoint received;
  TimePoint deadline;
  // On a caller: resources held by the request on whose behalf the call is made; null: none.
  std::shared_ptr<RequestHoldings> holdings;
  // Runs local operators and long reductions; null on a caller.
  ServiceHost* host = nullptr;
  std::vector<PartitionId> own;
  std::vector<Subtree> children;
};

}  // namespace neptune
