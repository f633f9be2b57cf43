// Reduces several streams of results to one, on one node of a reduction tree.
//
//   own partition ── stream ──► source ─┐
//   child ── stream of messages ► source ┴─► operator ──► pipe ─┐
//            with a report at its end                source ────┴─► operator ──► ... ──► the result
//
// If a stream breaks off, the others continue and its partitions are missing. If a child cannot be
// reached, each partition of its subtree is streamed from any replica instead.
//
// Source: [Chu03] 3.3 (the variation for stream-based calls, which the paper only mentions).
// Threads: user-level threads of one loop: one for each reduction, and the caller's.
// Errors: Run: those of the operator and of the sink.
// Limits: kPipeLength buffered messages per pipe; the streams' own windows bound the rest.

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
  // `reduce` is not used if there is one source only.
  StreamFold(ClientSession& session, const ServiceName& service, const AggregationPlan& plan,
             StatusOr<StreamReduceOperator> reduce);
  ~StreamFold();

  // Adds a partition, streamed from `node`, or from any replica if `node` is null.
  void AddPartition(PartitionId partition, const NodeId* node, TimePoint deadline);
  // Adds a subtree, streamed from its first member.
  void AddSubtree(std::span<const TreeMember> members, TimePoint deadline);

  // Reduces all sources into `sink` and returns when they have ended.
  Status Run(MessageSink& sink, TimePoint deadline);
  // Returns the contributing and missing partitions. REQUIRES: Run has returned.
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

// Serves a task over the stream that it opened: sends the messages of the result, then the report.
Status ServeStreamTask(Client& client, const NodeId& node, const ServiceName& service,
                       RequestContext& context, const Data& request, ServerStream& stream);

// Framing of a tree's stream: 'm' and a message, or 'r' and the report, which ends the stream.
std::string WrapMessage(const Data& message);
std::string WrapReport(const AggregationAnswer& report);

}  // namespace neptune
