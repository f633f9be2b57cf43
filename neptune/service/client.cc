#include "neptune/service/client.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/call_in_progress.h"
#include "neptune/service/call_statistics.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/span_log.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

Client::Client(NodeLoops& loops, OperatorRegistry& operators, MetricsRegistry& metrics,
               SpanLog& spans, CapsuleStack& capsules,
               absl::AnyInvocable<void(const NodeId&)> exclude)
    : loops_(loops),
      capsules_(capsules),
      operators_(operators),
      statistics_(std::make_unique<CallStatistics>(metrics)),
      spans_(spans),
      exclude_(std::move(exclude)) {}

Client::~Client() = default;

std::shared_ptr<const YellowPageView> Client::View() const {
  return loops_.Current().client->shared_view();
}

ClientSession::ClientSession(Client& client, const RequestContext& request)
    : service_class(request.service_class()),
      trace(request.trace()),
      client_(client),
      deadline_max_(request.deadline()),
      caller_(request.call()),
      holdings_(IncomingCall::HoldingsOf(caller_)),
      origin_(request.origin()) {}

ClientSession ClientSession::EndedBy(std::shared_ptr<IncomingCall> caller) const {
  ClientSession session = *this;
  session.caller_ = std::move(caller);
  return session;
}

ClientSession ClientSession::ForHedge(std::shared_ptr<IncomingCall> caller) const {
  ClientSession session = EndedBy(std::move(caller));
  session.origin_.retried = true;
  return session;
}

RequestHeader ClientSession::HeaderFor(const ServiceName& service, PartitionId partition,
                                       const MethodName& method) const {
  RequestHeader header;
  header.service = service;
  header.partition = partition;
  header.method = method;
  header.retried = origin_.retried;
  header.waited = origin_.waited;
  header.service_class = service_class;
  header.trace = trace.sampled ? ChildOf(trace, Loop::Current()->random()) : trace;
  return header;
}

void Client::Conclude(const RequestHeader& header, const TraceContext& from, const Status& status,
                      const CallReport& report) {
  statistics_->Record(header.service, header.method, status,
                      {.attempts = report.attempts,
                       .duration = report.duration,
                       .hedged = report.hedged,
                       .retry_denied = report.retry_denied});
  if (!header.trace.sampled) return;
  spans_.Record({.context = header.trace,
                 .parent = from.span,
                 .kind = SpanKind::kCaller,
                 .what = StrCat(header.service, "/", header.partition, ".", header.method),
                 .peer = report.server.value(),
                 .end = loops_.world().wall_time(),
                 .duration = report.duration,
                 .queue_time = report.queue_time,
                 .outcome = status.code()});
}

Status Call(ClientSession& session, const CalledMethod& callee, const Data& request, Data* response,
            const CallOptions& options, CallReport* report) {
  CallReport own_report;
  if (report == nullptr) {
    report = &own_report;
  } else {
    *report = CallReport();
  }
  RequestHeader header = session.HeaderFor(callee.service, callee.partition, callee.method);
  header.access = callee.access;
  header.extension = options.extension;
  CallInProgress call(session, header, request, options, report);
  const Status status = call.Run(response);
  // A call that was answered has it already.
  if (report->duration == Duration(0)) report->duration = this_thread::Now() - call.begun();
  session.client().Conclude(header, session.trace, status, *report);
  return status;
}

}  // namespace neptune
