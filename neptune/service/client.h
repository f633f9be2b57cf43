// The calling side: location-transparent calls to a service's partition.
//
//   Call ─► replicas (yellow page) ─► policy picks one ─► its capsule ─► kept connection ─► answer
//              ▲ another replica, after a failed connection or, for a read, a lost one
//              └─ three failures in a row: the node is excluded until it announces itself again
//
// Each attempt runs inside a dependency capsule, service:SERVICE/PARTITION@NODE at that node's
// address, from the choice of its server to its answer. If the capsule refuses the attempt, another
// replica is tried, provided that one is in another capsule. If the capsule's timeout expires, the
// attempt ends; a read is then tried on another replica while time remains.
//
// A retry of a request that was sent, or a hedge, is charged to a budget when it is decided, and
// the request is marked as a duplicate; see retry_budget.h. A failed attempt to connect costs no
// server any work and is not charged.
//
// Every call is counted by service and method, and recorded as a span if its trace is sampled.
//
// Source: [Shen02] 2.3 (client interface), 2.4 (three retries); [Chu05] IV.
// Threads: Client is shared by the loops of a node; Call runs on a user-level thread of one of
//   them. A ClientSession belongs to one client at a time.
// Units: deadlines are TimePoint.
// Errors: kUnavailable no live replica, every attempt failed, or the capsule bypasses them;
//   kResourceExhausted the capsule is full; kDeadlineExceeded; kCancelled the node stops; otherwise
//   the status that the method returned.
// Limits: CallOptions::attempts_max attempts per call; a call has a deadline unless it asks for
//   kNever.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/data.h"
#include "neptune/service/request_context.h"
#include "neptune/wire/access_mode.h"

namespace neptune {

class Aggregator;
class CallStatistics;
class CapsuleStack;
class MetricsRegistry;
class NodeLoops;
class OperatorRegistry;
class RequestHoldings;
class SpanLog;
struct RequestHeader;

struct CallOptions {
  // The answer is of no use after this time. Unset: the session's timeout from now.
  std::optional<TimePoint> deadline;
  // Maximum number of servers tried. Default: 3 (2.4).
  int attempts_max = 3;
  // The only node to call, instead of the policy's choice.
  std::optional<NodeId> only{};
  // Nodes that must not be called.
  std::vector<NodeId> except{};
  // Sends a read that has no answer after this time to a second replica too, within the retry
  // budget; the first answer wins. Smaller: shorter tails, more duplicate work. Unset: no hedging.
  std::optional<Duration> hedge_after{};
  // Opaque bytes of a higher layer, sent with the request; at most 255.
  std::string extension{};
};

// Outcome of a call, for statistics and status pages.
struct CallReport {
  NodeId server;
  int attempts = 0;
  // Times measured by the server.
  Duration queue_time{0};
  Duration run_time{0};
  // The server's load index when it answered.
  uint32_t load_index = 0;
  // The server cut the request short (time limit); the payload is the partial result so far.
  bool ended_early = false;
  // Time measured by the caller, from the choice of a server to the answer.
  Duration duration{0};
  // The request was also sent to a second server, before the first one answered.
  bool hedged = false;
  // A retry or hedge was suppressed: budget exhausted, or the request is itself a retry.
  bool retry_denied = false;
  // Opaque bytes of a higher layer, received with the answer.
  std::string extension{};
};

class Client {
 public:
  // `exclude` is called, on any loop, for a node that cannot be reached. `capsules` outlives this.
  Client(NodeLoops& loops, OperatorRegistry& operators, MetricsRegistry& metrics, SpanLog& spans,
         CapsuleStack& capsules, absl::AnyInvocable<void(const NodeId&)> exclude);
  ~Client();

  // The calling loop's current view of the replicas.
  std::shared_ptr<const YellowPageView> View() const;
  const OperatorRegistry& operators() const { return operators_; }
  NodeLoops& loops() const { return loops_; }
  CapsuleStack& capsules() const { return capsules_; }
  CallStatistics& statistics() { return *statistics_; }
  SpanLog& spans() { return spans_; }
  // Records a finished call or stream in the statistics and, if it is sampled, as a child span of
  // `from`.
  void Conclude(const RequestHeader& header, const TraceContext& from, const Status& status,
                const CallReport& report);
  void Exclude(const NodeId& node) { exclude_(node); }
  // Runs aggregations (neptune/dac); null on a node that has none.
  Aggregator* aggregator() const { return aggregator_; }
  void set_aggregator(Aggregator* aggregator) { aggregator_ = aggregator; }

 private:
  NodeLoops& loops_;
  CapsuleStack& capsules_;
  OperatorRegistry& operators_;
  const std::unique_ptr<CallStatistics> statistics_;
  SpanLog& spans_;
  absl::AnyInvocable<void(const NodeId&)> exclude_;
  Aggregator* aggregator_ = nullptr;  // set before the first call
};

// The settings that the calls of one client share.
class ClientSession {
 public:
  explicit ClientSession(Client& client) : client_(client) {}
  // A session for the calls that a method makes on behalf of its request; they inherit its class
  // and trace. They end with kCancelled once the request's caller is gone, and at the request's
  // deadline if that is earlier than their own.
  ClientSession(Client& client, const RequestContext& request);

  Client& client() const { return client_; }
  // Returns the header of a call from this session.
  RequestHeader HeaderFor(const ServiceName& service, PartitionId partition,
                          const MethodName& method) const;
  // The incoming call whose cancellation ends this session's calls; may be null.
  IncomingCall* caller() const { return caller_.get(); }
  const std::shared_ptr<IncomingCall>& shared_caller() const { return caller_; }
  TimePoint deadline_max() const { return deadline_max_; }
  const RequestOrigin& origin() const { return origin_; }
  // Counts the resources that the calls hold on behalf of a request; null: there is no request.
  const std::shared_ptr<RequestHoldings>& holdings() const { return holdings_; }
  // Sets how long the owner's work has been queued. Servers that end requests early take it as a
  // sign that other requests wait as well. For a session made from a request, it is initially that
  // request's wait.
  void SetWaited(Duration waited) {
    origin_.waited = std::chrono::duration_cast<std::chrono::microseconds>(waited);
  }
  // A copy of this session whose calls end when `caller` is cancelled instead; see cancellation.h.
  ClientSession EndedBy(std::shared_ptr<IncomingCall> caller) const;
  // A copy of this session for a duplicate of a call, which ends when `caller` is cancelled.
  ClientSession ForHedge(std::shared_ptr<IncomingCall> caller) const;

  std::string service_class;
  // Trace context of the session's owner; calls are its children.
  TraceContext trace;
  // Timeout of calls without a deadline of their own. Default: 10 s.
  Duration default_timeout = std::chrono::seconds(10);

 private:
  Client& client_;
  TimePoint deadline_max_ = kNever;
  std::shared_ptr<IncomingCall> caller_;
  std::shared_ptr<RequestHoldings> holdings_;
  RequestOrigin origin_;
};

// What is called: a method of a partition of a service.
struct CalledMethod {
  ServiceName service;
  PartitionId partition;
  MethodName method;
  AccessMode access = AccessMode::kRead;
};

// Calls a replica of the partition and waits for its answer. On error `response` is unchanged;
// `report` may be null.
Status Call(ClientSession& session, const CalledMethod& callee, const Data& request, Data* response,
            const CallOptions& options = {}, CallReport* report = nullptr);

}  // namespace neptune
