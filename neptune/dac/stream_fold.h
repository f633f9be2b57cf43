// Several streams of results reduced to one, on one node of a reduction tree.
//
//   own partition ── stream ──► source ─┐
//   child ── stream of messages ► source ┴─► operator ──► pipe ─┐
//            with a report at its end                source ────┴─► operator ──► ... ──► the result
//
// A stream that breaks off ends; the others go on, and its partitions are missing. A child that cannot be reached is
// passed over: each partition of its subtree is asked for its own stream, at any replica.
//
// Source: [Chu03] 3.3 (the variation for stream-based calls).
// Departs from source: the paper names it only.
// Threads: user-level threads of one loop: one for each reduction, and the caller's.
// Errors: of Run: those of the operator and of the sink.
// Limits: kPipeLength messages wait in a pipe; the streams' own windows bound the rest.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "neptune/dac/aggregation_message.h"
#include "neptune/service/client_stream.h"
#include "neptune/service/operator_registry.h"

namespace neptune {

inline constexpr size_t kPipeLength = 16;

class StreamFold {
 public:
  // `reduce` is not used while there is one source only.
  StreamFold(ClientSession& session, const ServiceName& service, const AggregationPlan& plan,
             StatusOr<StreamReduceOperator> reduce);
  ~StreamFold();

  // A partition of this node, or with `node` null of any.
  void AddPartition(PartitionId partition, const NodeId* node, TimePoint deadline);
  // A subtree, asked at its first member.
  void AddSubtree(std::span<const TreeMember> members, TimePoint deadline);

  // Reduces all sources into `sink` and returns when they have ended.
  Status Run(MessageSink& sink, TimePoint deadline);
  // Who contributed and who did not; after Run.
  AggregationAnswer ReleaseReport();

 private:
  class Source;
  class Pipe;

  ClientSession& session_;
  const ServiceName service_;
  const AggregationPlan plan_;
  const StatusOr<StreamReduceOperator> reduce_;
  const Data reduce_parameters_;
  std::vector<std::unique_ptr<Source>> sources_;
};

// Serves a task over the stream that it opened: messages of the result, then the report.
Status ServeStreamTask(Client& client, const NodeId& node, const ServiceName& service,
                       RequestContext& context, const Data& request, ServerStream& stream);

// What a tree's stream carries: 'm' and a message, or 'r' and the report, which ends it.
std::string WrapMessage(const Data& message);
std::string WrapReport(const AggregationAnswer& report);

}  // namespace neptune
