#include "neptune/service/call_path.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_stack.h"

namespace neptune {
namespace {

// Pause before the replicas of a partition are tried once more, multiplied by the number of
// attempts.
constexpr Duration kRetryPause = std::chrono::milliseconds(10);

TimePoint DeadlineOf(const ClientSession& session, const CallOptions& options, TimePoint now) {
  const TimePoint own = options.deadline.value_or(AddSaturated(now, session.default_timeout));
  return std::min(own, session.deadline_max());
}

}  // namespace

CapsuleOutcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kDeadlineExceeded:
      return CapsuleOutcome::kTimedOut;
    case StatusCode::kCancelled:
      return CapsuleOutcome::kCancelled;
    case StatusCode::kUnavailable:
    case StatusCode::kResourceExhausted:
      return CapsuleOutcome::kFailed;
    default:  // the server answered, even if with an error
      return CapsuleOutcome::kDone;
  }
}

CapsuleOutcome OutcomeOf(const ResponseHeader& header) {
  return header.ended_early ? CapsuleOutcome::kDone : OutcomeOf(header.status);
}

NetworkOperation OperationOf(const RequestHeader& header, const Replica& replica) {
  return {.address = replica.call_endpoint.address,
          .port = replica.call_endpoint.port,
          .service = header.service.value(),
          .partition = header.partition,
          .node = replica.node.value()};
}

CallPath::CallPath(const ClientSession& session, RequestHeader& header, const CallOptions& options,
                   CallReport* report)
    : CallPath(session, session.client().loops().Current(), header, options, report) {}

CallPath::CallPath(const ClientSession& session, NodeLoop& here, RequestHeader& header,
                   const CallOptions& options, CallReport* report)
    : session_(session),
      loop_(*here.loop),
      client_(*here.client),
      header_(header),
      target_(client_.TargetOf(header_.service, header_.partition)),
      target_view_(&client_.view()),
      begun_(loop_.Now()),
      deadline_(DeadlineOf(session, options, begun_)),
      attempt_deadline_(deadline_),
      attempts_left_(options.attempts_max),
      only_(options.only),
      has_exceptions_(!options.except.empty()),
      report_(*report),
      tried_(options.except),
      now_(begun_) {
  if (!header_.retried) target_.budget->OnCall();
}

CallPath::~CallPath() {
  if (!visit_.inside() && !choice_) return;
  // A deadline that passed is the server's failure; a caller who is gone is not.
  const bool late = loop_.Now() >= attempt_deadline_;
  LoseChoice(late);
  LeaveCapsule(late ? CapsuleOutcome::kTimedOut : CapsuleOutcome::kCancelled);
}

void CallPath::LeaveCapsule(CapsuleOutcome outcome) {
  visit_.Leave(outcome);
  place_.Release();
}

void CallPath::LoseChoice(bool failed) {
  if (choice_) client_.chooser().Lost(*std::exchange(choice_, std::nullopt), failed);
}

void CallPath::Failed(const Status& status) {
  last_error_ = status;
  LoseChoice(/*failed=*/true);
  LeaveCapsule(OutcomeOf(status));
}

void CallPath::Answered(const ResponseHeader& header, TimePoint now) {
  visit_.Leave(OutcomeOf(header), now);
  place_.Release();
  if (!choice_) return;
  client_.chooser().Answered(*std::exchange(choice_, std::nullopt), header.load_index,
                             header.run_time, header.status);
}

void CallPath::Detach() {
  LoseChoice(/*failed=*/false);
  LeaveCapsule(CapsuleOutcome::kDone);
  attempt_deadline_ = deadline_;
}

void CallPath::GiveUp() {
  LoseChoice(/*failed=*/false);
  LeaveCapsule(CapsuleOutcome::kCancelled);
}

bool CallPath::SpendRetry() {
  // A request that is itself a retry is never retried here. A retry decided here may be followed by
  // another one.
  if (session_.origin().retried || !target_.budget->Take()) {
    report_.retry_denied = true;
    return false;
  }
  header_.retried = true;
  return true;
}

bool CallPath::MayTryAnother() {
  if (only_ || loop_.Now() >= deadline_) return false;
  NoteTried();
  const std::vector<Replica>& replicas =
      client_.view().Replicas(header_.service, header_.partition);
  return std::any_of(replicas.begin(), replicas.end(), [&](const Replica& replica) {
    return std::find(tried_.begin(), tried_.end(), replica.node) == tried_.end();
  });
}

// Formats the message only when it is needed, because most calls do not fail.
Status CallPath::LastError() const {
  return last_error_.ok() ? Unavailable("no live replica of ", Target()) : last_error_;
}

std::string CallPath::Target() const {
  return StrCat(header_.service, "/", header_.partition, ".", header_.method);
}

Status CallPath::WhyEnded(ParkResult result) const {
  if (cancelled()) return Cancelled("calling ", Target(), ": the caller is gone");
  if (result == ParkResult::kStopping) {
    return Cancelled("calling ", Target(), ": the node stops");
  }
  if (visit_.inside() && visit_.limited_by_capsule()) {
    return DeadlineExceeded("calling ", Target(), ": timeout of ", visit_.Where());
  }
  return DeadlineExceeded("calling ", Target());
}

void CallPath::NoteTried() {
  if (trying_ != nullptr) tried_.push_back(std::exchange(trying_, nullptr)->node);
}

StatusOr<CallPath::Connected> CallPath::Next() {
  while (attempts_left_ > 0) {
    attempt_deadline_ = deadline_;
    if (cancelled() || Now() >= deadline_) return WhyEnded(ParkResult::kDeadline);
    NoteTried();
    const Replica* replica = ChooseReplica();
    if (ThreadScheduler::Current()->stopping()) return WhyEnded(ParkResult::kStopping);
    if (replica == nullptr) return LastError();
    if (Now() >= deadline_) return WhyEnded(ParkResult::kDeadline);
    trying_ = replica;
    if (const Status entered = EnterCapsule(&replica); !entered.ok()) {
      LoseChoice(/*failed=*/false);
      last_error_ = Annotate(entered, "calling " + Target());
      ++turned_away_count_;
      now_.reset();
      if (entered.code() == StatusCode::kCancelled || AllTurnedAway()) return last_error_;
      continue;
    }
    turned_away_count_ = 0;
    --attempts_left_;
    auto connected = Connect(*replica);
    if (connected.ok()) return connected;
    Failed(Annotate(connected.status(), "calling " + Target()));
    if (last_error_.code() == StatusCode::kCancelled) return last_error_;
  }
  return LastError();
}

StatusOr<CallPath::Connected> CallPath::Connect(const Replica& replica) {
  ++report_.attempts;
  report_.server = replica.node;
  if (auto open = client_.FindChannel(replica.call_endpoint)) {
    return Connected{&replica, std::move(open)};
  }
  now_.reset();
  auto channel = client_.ChannelTo(replica.call_endpoint, attempt_deadline_);
  if (channel.ok()) return Connected{&replica, *std::move(channel)};
  if (client_.FailsTooOften(replica.call_endpoint)) session_.client().Exclude(replica.node);
  return channel.status();
}

Status CallPath::EnterCapsule(const Replica** replica) {
  Status entered = visit_.Enter(session_.client().capsules(), OperationOf(header_, **replica),
                                {.deadline = deadline_,
                                 .caller = session_.origin().handler,
                                 .service_class = session_.service_class,
                                 .given_up = [this] { return cancelled(); },
                                 .now = Now()});
  if (visit_.waited()) now_.reset();
  if (!entered.ok()) return entered;
  if (visit_.inside() && session_.holdings() != nullptr) {
    place_ = Holding(session_.holdings(), HeldKind::kCapsulePlace);
  }
  attempt_deadline_ = visit_.deadline();
  if (visit_.migrated()) FollowMigration(replica);
  return OkStatus();
}

// If the call migrated to the capsule of another replica, that replica is called instead.
void CallPath::FollowMigration(const Replica** replica) {
  std::shared_ptr<const YellowPageView> view = client_.shared_view();
  for (const Replica& other : view->Replicas(header_.service, header_.partition)) {
    const auto capsule = session_.client().capsules().Find(OperationOf(header_, other));
    if (capsule.get() != visit_.capsule() || other.node == (*replica)->node) continue;
    LoseChoice(/*failed=*/false);
    NoteTried();
    *replica = trying_ = &other;
    view_ = std::move(view);
    return;
  }
}

// True if the capsules have refused every replica since the last attempt.
bool CallPath::AllTurnedAway() const {
  if (only_) return true;
  return turned_away_count_ >= client_.view().Replicas(header_.service, header_.partition).size();
}

const Replica* CallPath::NamedReplica(const std::vector<Replica>& replicas) const {
  const auto named = std::find_if(replicas.begin(), replicas.end(),
                                  [&](const Replica& r) { return r.node == *only_; });
  return named == replicas.end() ? nullptr : &*named;
}

// Returns a replica that was not tried yet; after all were tried, pauses and starts over.
const Replica* CallPath::ChooseReplica() {
  view_ = client_.shared_view();
  if (std::exchange(target_view_, view_.get()) != view_.get()) {
    target_ = client_.TargetOf(header_.service, header_.partition);
  }
  const std::vector<Replica>& replicas = *target_.replicas;
  if (only_) return NamedReplica(replicas);
  if (replicas.empty()) return nullptr;
  if (client_.chooser().may_wait()) now_.reset();
  choice_ =
      client_.chooser().Choose(header_.service, header_.partition, replicas, tried_, deadline_);
  if (choice_) return &replicas[choice_->index];
  if (has_exceptions_) return nullptr;
  const auto pause = kRetryPause * static_cast<int64_t>(tried_.size());
  tried_.clear();
  now_.reset();
  if (this_thread::SleepUntil(std::min(deadline_, loop_.Now() + pause)) == ParkResult::kStopping) {
    return nullptr;
  }
  return ChooseReplica();
}

Status CallPath::SetTimeLeft() {
  // Opening a stream is an attempt of its own: its place in the capsule is released once it is
  // open.
  const TimePoint deadline = header_.stream ? deadline_ : attempt_deadline_;
  const Duration left = deadline - Now();
  now_.reset();  // the call is sent, and waited for
  if (left <= Duration(0)) return WhyEnded(ParkResult::kDeadline);
  if (deadline != kNever) header_.time_left = std::chrono::microseconds(ToMicros(left));
  return OkStatus();
}

}  // namespace neptune
