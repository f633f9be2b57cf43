#include "neptune/service/client.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/synchronization.h"

namespace neptune {
namespace {

// Pause before the replicas of a partition are tried once more, times the number of tries.
constexpr Duration kRetryPause = std::chrono::milliseconds(10);

// One request on one connection, waiting on the caller's stack.
class PendingAnswer final : public AnswerSink {
 public:
  void OnAnswer(StatusOr<Frame> response) override {
    response_ = std::move(response);
    event_.Set();
  }
  ParkResult Wait(TimePoint deadline) { return event_.Wait(deadline); }
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
  CallInProgress(ClientSession& session, RequestHeader header, const Data& request, Data* response,
                 const CallOptions& options, CallReport* report)
      : session_(session),
        loop_(*session.client().loops().Current().loop),
        client_(*session.client().loops().Current().client),
        header_(std::move(header)),
        request_(request),
        response_(response),
        attempts_max_(options.attempts_max),
        deadline_(options.deadline.value_or(AddSaturated(loop_.Now(), session.default_timeout))),
        report_(report) {}

  Status Run() {
    Attempt last{Progress::kNotSent, Unavailable("no live replica of ", Target())};
    for (int i = 0; i < attempts_max_; ++i) {
      if (loop_.Now() >= deadline_) return Expired();
      const std::optional<Replica> replica = ChooseReplica();
      if (ThreadScheduler::Current()->stopping()) return Stopping();
      if (!replica) break;
      if (loop_.Now() >= deadline_) return Expired();
      if (report_ != nullptr) {
        report_->attempts = i + 1;
        report_->server = replica->node;
      }
      last = Try(*replica);
      if (!MayTryAgain(last)) break;
      tried_.push_back(replica->node);
    }
    return last.status;
  }

 private:
  std::string Target() const {
    return StrCat(header_.service, "/", header_.partition, ".", header_.method);
  }
  Status Expired() const { return DeadlineExceeded("calling ", Target()); }
  Status Stopping() const { return Cancelled("calling ", Target(), ": the node stops"); }

  // A write may have been done once it was sent. A read may be asked elsewhere when its answer was
  // lost, or when the server says that it cannot serve it.
  bool MayTryAgain(const Attempt& last) const {
    if (last.status.ok() || last.status.code() == StatusCode::kCancelled) return false;
    if (last.progress == Progress::kNotSent) return true;
    if (header_.access == AccessMode::kWrite) return false;
    return last.progress == Progress::kSentAndLost ||
           last.status.code() == StatusCode::kUnavailable;
  }

  // A replica that was not tried yet; when all were, all again after a pause.
  std::optional<Replica> ChooseReplica() {
    const std::shared_ptr<const YellowPageView> view = client_.shared_view();
    const std::vector<Replica>& replicas = view->Replicas(header_.service, header_.partition);
    if (replicas.empty()) return std::nullopt;
    std::vector<const Replica*> candidates;
    for (const Replica& replica : replicas) {
      if (std::find(tried_.begin(), tried_.end(), replica.node) == tried_.end()) {
        candidates.push_back(&replica);
      }
    }
    if (candidates.empty()) {
      const auto pause = kRetryPause * static_cast<int64_t>(tried_.size());
      tried_.clear();
      if (this_thread::SleepUntil(std::min(deadline_, loop_.Now() + pause)) ==
          ParkResult::kStopping) {
        return std::nullopt;
      }
      return ChooseReplica();
    }
    return *candidates[client_.Choose(candidates, deadline_)];
  }

  Attempt Try(const Replica& replica) {
    auto connection = client_.connections().Get(replica.call_endpoint, deadline_);
    if (!connection.ok()) {
      if (client_.FailsTooOften(replica.call_endpoint)) session_.client().Exclude(replica.node);
      return {Progress::kNotSent, Annotate(connection.status(), "calling " + Target())};
    }
    const Duration left = deadline_ - loop_.Now();
    if (left <= Duration(0)) return {Progress::kAnswered, Expired()};
    if (deadline_ != kNever) header_.time_left = std::chrono::microseconds(ToMicros(left));
    PendingAnswer answer;
    const StatusOr<uint64_t> call =
        (*connection)->Call(EncodeRequestHeader(header_), request_.bytes(), &answer);
    if (!call.ok()) return {Progress::kNotSent, call.status()};
    const ParkResult result = answer.Wait(deadline_);
    if (result != ParkResult::kWoken) {
      (*connection)->Forget(*call, /*tell_server=*/true);
      if (result == ParkResult::kStopping) {
        return {Progress::kSentAndLost, Stopping()};
      }
      return {Progress::kAnswered, Expired()};
    }
    return Take(std::move(answer.response()), replica);
  }

  Attempt Take(StatusOr<Frame> frame, const Replica& replica) {
    if (!frame.ok())
      return {Progress::kSentAndLost, Annotate(frame.status(), "calling " + Target())};
    const StatusOr<ResponseHeader> header = DecodeResponseHeader(frame->section);
    if (!header.ok()) return {Progress::kSentAndLost, header.status()};
    if (report_ != nullptr) {
      report_->queue_time = header->queue_time;
      report_->run_time = header->run_time;
    }
    if (header->status.ok()) *response_ = Data(std::move(frame->payload));
    return {Progress::kAnswered,
            Annotate(header->status, StrCat("node ", replica.node, " on ", Target()))};
  }

  ClientSession& session_;
  Loop& loop_;
  LoopClient& client_;
  RequestHeader header_;
  const Data& request_;
  Data* const response_;
  const int attempts_max_;
  const TimePoint deadline_;
  CallReport* const report_;
  std::vector<NodeId> tried_;
};

}  // namespace

Status Call(ClientSession& session, const ServiceName& service, PartitionId partition,
            const MethodName& method, AccessMode access, const Data& request, Data* response,
            const CallOptions& options, CallReport* report) {
  RequestHeader header;
  header.service = service;
  header.partition = partition;
  header.method = method;
  header.access = access;
  header.service_class = session.service_class;
  header.trace = session.trace;
  CallReport own_report;
  if (report == nullptr) report = &own_report;
  const TimePoint begin = this_thread::Now();
  const Status status =
      CallInProgress(session, std::move(header), request, response, options, report).Run();
  session.client().statistics().Record(service, status, report->attempts,
                                       this_thread::Now() - begin);
  return status;
}

}  // namespace neptune
