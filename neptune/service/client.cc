#include "neptune/service/client.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/service/call_path.h"
#include "neptune/thread/synchronization.h"

namespace neptune {
namespace {

// One request on one connection, waiting on the caller's stack.
class PendingAnswer final : public AnswerSink {
 public:
  void OnAnswer(StatusOr<Frame> response) override {
    response_ = std::move(response);
    event_.Set();
  }
  // kWoken when the answer is there; else it ended at the deadline, by a stop, or by `path`'s cancellation.
  ParkResult Wait(const CallPath& path) {
    while (!event_.is_set()) {
      if (path.cancelled()) return ParkResult::kDeadline;
      const ParkResult result = this_thread::Park(path.deadline());
      if (result != ParkResult::kWoken && !event_.is_set()) return result;
    }
    return ParkResult::kWoken;
  }
  StatusOr<Frame>& response() { return response_; }

 private:
  OneShotEvent event_;
  StatusOr<Frame> response_ = Unavailable("no answer yet");
};

// How far an attempt got decides whether another may follow.
enum class Progress { kNotSent, kSentAndLost, kAnswered };

struct Attempt {
  Progress progress = Progress::kNotSent;
  Status status;
};

class CallInProgress {
 public:
  CallInProgress(CallPath& path, const Data& request, Data* response, CallReport* report)
      : path_(path), request_(request), response_(response), report_(*report) {}

  Status Run() {
    while (true) {
      const StatusOr<CallPath::Connected> to = path_.Next();
      if (!to.ok()) return to.status();
      const Attempt last = Try(*to);
      if (!MayTryAgain(last)) return last.status;
      path_.Failed(last.status);
    }
  }

 private:
  // A write may have been done once it was sent. A read may be asked elsewhere when its answer was
  // lost, or when the server says that it cannot serve it.
  bool MayTryAgain(const Attempt& last) const {
    if (last.status.ok() || last.status.code() == StatusCode::kCancelled) return false;
    if (last.progress == Progress::kNotSent) return true;
    if (path_.header().access == AccessMode::kWrite) return false;
    return last.progress == Progress::kSentAndLost ||
           last.status.code() == StatusCode::kUnavailable;
  }

  Attempt Try(const CallPath::Connected& to) {
    const StatusOr<std::string> section = path_.EncodeHeader();
    if (!section.ok()) return {Progress::kAnswered, section.status()};
    PendingAnswer answer;
    const StatusOr<uint64_t> call = to.connection->Call(*section, request_.bytes(), &answer);
    if (!call.ok()) return {Progress::kNotSent, call.status()};
    const ParkResult result = answer.Wait(path_);
    if (result == ParkResult::kWoken) return Take(std::move(answer.response()), to.replica);
    to.connection->Forget(*call, /*tell_server=*/true);
    return {Progress::kAnswered, path_.WhyEnded(result)};
  }

  Attempt Take(StatusOr<Frame> frame, const Replica& replica) {
    if (!frame.ok()) {
      return {Progress::kSentAndLost, Annotate(frame.status(), "calling " + path_.Target())};
    }
    const StatusOr<ResponseHeader> header = DecodeResponseHeader(frame->section);
    if (!header.ok()) return {Progress::kSentAndLost, header.status()};
    path_.Answered(*header);
    report_.queue_time = header->queue_time;
    report_.run_time = header->run_time;
    report_.load_index = header->load_index;
    if (header->status.ok()) {
      *response_ = Data(std::move(frame->payload));
      return {Progress::kAnswered, OkStatus()};
    }
    return {Progress::kAnswered,
            Annotate(header->status, StrCat("node ", replica.node, " on ", path_.Target()))};
  }

  CallPath& path_;
  const Data& request_;
  Data* const response_;
  CallReport& report_;
};

}  // namespace

ClientSession::ClientSession(Client& client, const RequestContext& request)
    : service_class(request.service_class()),
      trace(request.trace()),
      client_(client),
      deadline_max_(request.deadline()),
      caller_(request.call()) {}

RequestHeader ClientSession::HeaderFor(const ServiceName& service, PartitionId partition,
                                       const MethodName& method) const {
  RequestHeader header;
  header.service = service;
  header.partition = partition;
  header.method = method;
  header.service_class = service_class;
  header.trace = trace.sampled ? ChildOf(trace, Loop::Current()->random()) : trace;
  return header;
}

void Client::Conclude(const RequestHeader& header, const TraceContext& from, const Status& status,
                      const CallReport& report) {
  statistics_.Record(header.service, header.method, status, report.attempts, report.duration);
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

Status Call(ClientSession& session, const ServiceName& service, PartitionId partition,
            const MethodName& method, AccessMode access, const Data& request, Data* response,
            const CallOptions& options, CallReport* report) {
  CallReport own_report;
  if (report == nullptr) report = &own_report;
  *report = CallReport();
  RequestHeader header = session.HeaderFor(service, partition, method);
  header.access = access;
  const TimePoint begin = this_thread::Now();
  CallPath path(session, std::move(header), options, report);
  const CancelAction wake_me(session.caller(),
                             [self = ThreadRef(UserThread::Current())] { self->Wake(); });
  Status status;
  {
    const OutsideMainPool outside;
    status = CallInProgress(path, request, response, report).Run();
  }
  report->duration = this_thread::Now() - begin;
  session.client().Conclude(path.header(), session.trace, status, *report);
  return status;
}

}  // namespace neptune
