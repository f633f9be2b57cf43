// The calling side: location-transparent calls to a service's partition.
//
//   Call ─► replicas of the partition (yellow page) ─► policy chooses one ─► its capsule ─► kept connection ─► answer
//              ▲ another one, after a failed connection or, for a read, a lost one
//              └─ three failures in a row: the node is excluded until it is heard again
//
// Each try is in a dependency capsule from the choice of its server to its answer: service:SERVICE/PARTITION@NODE, at
// that node's address. A capsule that turns a try away leads to another replica, if one is in another capsule; one
// whose timeout passes ends the try, and a read is asked elsewhere while there is time.
//
// What is done twice - a retry of what was sent, or a hedge - is taken from a budget when it is decided, and the
// request says so; see retry_budget.h. An attempt to connect that fails costs no server anything and is not counted.
//
// Source: [Shen02] 2.3 (client interface), 2.4 (three retries); [Chu05] IV.
// Threads: Client is shared by the loops of a node; Call runs on a user-level thread of one of
// them. A
//   ClientSession belongs to one client at a time.
// Units: deadlines are TimePoint.
// Errors: kUnavailable no live replica, every attempt failed, or the capsule bypasses them; kResourceExhausted the
//   capsule is full; kDeadlineExceeded; kCancelled the node stops; otherwise what the method answered.
// What became of each call is counted by service and method, and kept as a span if its trace is sampled.
// Limits: CallOptions::attempts_max tries a call; every call has a deadline unless it says kNever.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/call_statistics.h"
#include "neptune/service/data.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/operator_registry.h"
#include "neptune/service/service_module.h"
#include "neptune/service/span_log.h"
#include "neptune/wire/frame.h"

namespace neptune {

class Aggregator;

struct CallOptions {
  // When the answer is no longer of use. Absent: the session's timeout from now.
  std::optional<TimePoint> deadline;
  // Most servers tried. Default: 3 (2.4).
  int attempts_max = 3;
  // The only node that may be asked, in place of the policy's choice.
  std::optional<NodeId> only{};
  // Nodes that may not be asked.
  std::vector<NodeId> except{};
  // A read that has no answer after so long is asked of another replica too, within the budget; the first answer is
  // taken. Smaller: shorter tails, more work done twice. Absent: it is not.
  std::optional<Duration> hedge_after{};
  // Bytes of a higher layer that go with the request, at most 255.
  std::string extension{};
};

// What became of a call, for statistics and status pages.
struct CallReport {
  NodeId server;
  int attempts = 0;
  // As the server measured them.
  Duration queue_time{0};
  Duration run_time{0};
  // The server's load index when it answered.
  uint32_t load_index = 0;
  // The server told the request to stop since it has no more time for one: what came is what there was by then.
  bool ended_early = false;
  // As the caller saw it, from the choice of a server to the answer.
  Duration duration{0};
  // It was asked of a second server too, while the first one had not answered.
  bool hedged = false;
  // A try was not made because the budget is used up, or because the request was itself sent twice.
  bool retry_denied = false;
  // Bytes of a higher layer that came with the answer.
  std::string extension{};
};

class Client {
 public:
  // `exclude` is called, on any loop, for a node that cannot be reached. `capsules`, which outlive this, may be null:
  // calls then have no bounds but their deadlines, for experiments.
  Client(NodeLoops& loops, OperatorRegistry& operators, MetricsRegistry& metrics, SpanLog& spans,
         CapsuleStack* capsules, absl::AnyInvocable<void(const NodeId&)> exclude)
      : loops_(loops),
        capsules_(capsules),
        operators_(operators),
        statistics_(metrics),
        spans_(spans),
        exclude_(std::move(exclude)) {}

  // Replicas as the caller's loop knows them now.
  std::shared_ptr<const YellowPageView> View() const {
    return loops_.Current().client->shared_view();
  }
  const OperatorRegistry& operators() const { return operators_; }
  NodeLoops& loops() const { return loops_; }
  // May be null.
  CapsuleStack* capsules() const { return capsules_; }
  CallStatistics& statistics() { return statistics_; }
  SpanLog& spans() { return spans_; }
  // Keeps what became of a call or stream: statistics, and a span, child of `from`, if it is sampled.
  void Conclude(const RequestHeader& header, const TraceContext& from, const Status& status,
                const CallReport& report);
  void Exclude(const NodeId& node) { exclude_(node); }
  // The node's part in aggregations (neptune/dac); null on a node without.
  Aggregator* aggregator() const { return aggregator_; }
  void set_aggregator(Aggregator* aggregator) { aggregator_ = aggregator; }

 private:
  NodeLoops& loops_;
  CapsuleStack* const capsules_;
  OperatorRegistry& operators_;
  CallStatistics statistics_;
  SpanLog& spans_;
  absl::AnyInvocable<void(const NodeId&)> exclude_;
  Aggregator* aggregator_ = nullptr;  // set before the first call
};

// What belongs to one client over its calls.
class ClientSession {
 public:
  explicit ClientSession(Client& client) : client_(client) {}
  // For what a method calls on behalf of its request, with the request's class and trace. Calls end with
  // kCancelled once the request's caller is gone, and at the request's deadline if it is before their own.
  ClientSession(Client& client, const RequestContext& request);

  Client& client() const { return client_; }
  // The header of a call from this session.
  RequestHeader HeaderFor(const ServiceName& service, PartitionId partition,
                          const MethodName& method) const;
  // Whose cancellation ends this session's calls; may be null.
  IncomingCall* caller() const { return caller_.get(); }
  TimePoint deadline_max() const { return deadline_max_; }
  const RequestOrigin& origin() const { return origin_; }
  // Counts what its calls hold on behalf of a request; null: of none.
  const std::shared_ptr<RequestHoldings>& holdings() const { return holdings_; }
  // What its owner does has waited for its turn for so long: servers that end requests early learn from it that others
  // wait as well. A request's own wait counts for what it calls.
  void SetWaited(Duration waited) {
    origin_.waited = std::chrono::duration_cast<std::chrono::microseconds>(waited);
  }
  // This session for a call that is done a second time, until `caller` is cancelled.
  ClientSession ForHedge(std::shared_ptr<IncomingCall> caller) const;

  std::string service_class;
  // Of what the session's owner does; calls are its children.
  TraceContext trace;
  // For calls without a deadline of their own. Default: 10 s.
  Duration default_timeout = std::chrono::seconds(10);

 private:
  Client& client_;
  TimePoint deadline_max_ = kNever;
  std::shared_ptr<IncomingCall> caller_;
  std::shared_ptr<RequestHoldings> holdings_;
  RequestOrigin origin_;
};

// Calls `method` on a replica of the partition and waits for its answer. `response` is untouched on
// error.
Status Call(ClientSession& session, const ServiceName& service, PartitionId partition,
            const MethodName& method, AccessMode access, const Data& request, Data* response,
            const CallOptions& options = {}, CallReport* report = nullptr);

}  // namespace neptune
