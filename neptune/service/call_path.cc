#include "neptune/service/call_path.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Pause before the replicas of a partition are tried once more, times the number of tries.
constexpr Duration kRetryPause = std::chrono::milliseconds(10);

TimePoint DeadlineOf(const ClientSession& session, const CallOptions& options, TimePoint now) {
  const TimePoint own = options.deadline.value_or(AddSaturated(now, session.default_timeout));
  return std::min(own, session.deadline_max());
}

}  // namespace

CallPath::CallPath(const ClientSession& session, RequestHeader header, const CallOptions& options,
                   CallReport* report)
    : session_(session),
      loop_(*session.client().loops().Current().loop),
      client_(*session.client().loops().Current().client),
      header_(std::move(header)),
      deadline_(DeadlineOf(session, options, loop_.Now())),
      attempts_left_(options.attempts_max),
      only_(options.only),
      report_(*report),
      last_error_(Unavailable("no live replica of ", Target())) {}

CallPath::~CallPath() {
  // A deadline that passed is the server's failure; a caller who is gone is not.
  if (choice_) client_.chooser().Lost(*choice_, /*failed=*/loop_.Now() >= deadline_);
}

void CallPath::Failed(const Status& status) {
  last_error_ = status;
  if (choice_) client_.chooser().Lost(*std::exchange(choice_, std::nullopt), /*failed=*/true);
}

void CallPath::Answered(const ResponseHeader& header) {
  if (!choice_) return;
  client_.chooser().Answered(*std::exchange(choice_, std::nullopt), header.load_index,
                             header.run_time, header.status);
}

void CallPath::Detach() {
  if (choice_) client_.chooser().Lost(*std::exchange(choice_, std::nullopt), /*failed=*/false);
}

std::string CallPath::Target() const {
  return StrCat(header_.service, "/", header_.partition, ".", header_.method);
}

Status CallPath::WhyEnded(ParkResult result) const {
  if (cancelled()) return Cancelled("calling ", Target(), ": the caller is gone");
  if (result == ParkResult::kStopping) {
    return Cancelled("calling ", Target(), ": the node stops");
  }
  return DeadlineExceeded("calling ", Target());
}

StatusOr<CallPath::Connected> CallPath::Next() {
  for (; attempts_left_ > 0; --attempts_left_) {
    if (cancelled() || loop_.Now() >= deadline_) return WhyEnded(ParkResult::kDeadline);
    const std::optional<Replica> replica = ChooseReplica();
    if (ThreadScheduler::Current()->stopping()) return WhyEnded(ParkResult::kStopping);
    if (!replica) return last_error_;
    if (loop_.Now() >= deadline_) return WhyEnded(ParkResult::kDeadline);
    ++report_.attempts;
    report_.server = replica->node;
    tried_.push_back(replica->node);
    auto connection = client_.connections().Get(replica->call_endpoint, deadline_);
    if (connection.ok()) {
      --attempts_left_;
      return Connected{*replica, *std::move(connection)};
    }
    if (client_.FailsTooOften(replica->call_endpoint)) session_.client().Exclude(replica->node);
    Failed(Annotate(connection.status(), "calling " + Target()));
    if (last_error_.code() == StatusCode::kCancelled) return last_error_;
  }
  return last_error_;
}

// A replica that was not tried yet; when all were, all again after a pause.
std::optional<Replica> CallPath::ChooseReplica() {
  const std::shared_ptr<const YellowPageView> view = client_.shared_view();
  const std::vector<Replica>& replicas = view->Replicas(header_.service, header_.partition);
  if (only_) {
    const auto named = std::find_if(replicas.begin(), replicas.end(),
                                    [&](const Replica& r) { return r.node == *only_; });
    return named == replicas.end() ? std::nullopt : std::optional(*named);
  }
  if (replicas.empty()) return std::nullopt;
  choice_ =
      client_.chooser().Choose(header_.service, header_.partition, replicas, tried_, deadline_);
  if (!choice_) {
    const auto pause = kRetryPause * static_cast<int64_t>(tried_.size());
    tried_.clear();
    if (this_thread::SleepUntil(std::min(deadline_, loop_.Now() + pause)) ==
        ParkResult::kStopping) {
      return std::nullopt;
    }
    return ChooseReplica();
  }
  return replicas[choice_->index];
}

StatusOr<std::string> CallPath::EncodeHeader() {
  const Duration left = deadline_ - loop_.Now();
  if (left <= Duration(0)) return WhyEnded(ParkResult::kDeadline);
  if (deadline_ != kNever) header_.time_left = std::chrono::microseconds(ToMicros(left));
  return EncodeRequestHeader(header_);
}

}  // namespace neptune
