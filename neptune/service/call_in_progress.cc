#include "neptune/service/call_in_progress.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

// One request on one channel of the caller's loop, waiting on the caller's stack: its thread lives
// until the answer has arrived or was forgotten.
class CallInProgress::PendingAnswer final : public AnswerSink {
 public:
  PendingAnswer() : waiter_(*UserThread::Current()) {}

  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    answer_ = std::move(answer);
    is_there_ = true;
    waiter_.Wake();
  }
  bool is_there() const { return is_there_; }
  StatusOr<CallAnswer>& answer() { return answer_; }

 private:
  UserThread& waiter_;
  bool is_there_ = false;
  StatusOr<CallAnswer> answer_;  // an error until the answer arrives
};

CallInProgress::CallInProgress(const ClientSession& session, RequestHeader& header,
                               const Data& request, const CallOptions& options, CallReport* report)
    : session_(session),
      path_(session, header, options, report),
      request_(request),
      hedge_after_(options.hedge_after),
      report_(*report) {}

Status CallInProgress::Run(Data* response) {
  response_ = response;
  std::optional<CancelAction> wake_me;
  if (session_.caller() != nullptr) {
    wake_me.emplace(session_.caller(), [self = ThreadRef(UserThread::Current())] { self->Wake(); });
  }
  const OutsideMainPool outside;
  while (true) {
    const StatusOr<CallPath::Connected> to = path_.Next();
    if (!to.ok()) return to.status();
    const Attempt last = Try(*to);
    if (!MayTryAgain(last)) return last.status;
    AwaitHedge();
    if (HedgeAnswered()) return AdoptHedge().status;
    if (last.progress != Progress::kNotSent && !path_.SpendRetry()) return last.status;
    path_.Failed(last.status);
    report_.duration = Duration(0);  // of an answer that was no use
  }
}

// A write that was sent may have been executed and is never retried. A read may be tried on another
// replica when its answer was lost or is late, or when the server returned kUnavailable.
bool CallInProgress::MayTryAgain(const Attempt& last) {
  if (last.status.ok() || last.status.code() == StatusCode::kCancelled) return false;
  if (last.progress == Progress::kNotSent) return true;
  if (path_.header().access == AccessMode::kWrite) return false;
  if (last.progress == Progress::kTimedOut) return path_.MayTryAnother();
  return last.progress == Progress::kSentAndLost || last.status.code() == StatusCode::kUnavailable;
}

CallInProgress::Attempt CallInProgress::Try(const CallPath::Connected& to) {
  if (Status late = path_.SetTimeLeft(); !late.ok()) return {Progress::kTimedOut, std::move(late)};
  PendingAnswer answer;
  const StatusOr<uint64_t> call = to.channel->Call(path_.header(), request_.bytes(), &answer);
  if (!call.ok()) return {Progress::kNotSent, call.status()};
  const Holding held(session_.holdings(), HeldKind::kCall);
  const ParkResult result = Wait(answer);
  if (answer.is_there()) return Take(answer.answer(), *to.replica);
  to.channel->Forget(*call, /*tell_server=*/true);
  if (HedgeAnswered()) return AdoptHedge();
  return {Progress::kTimedOut, path_.WhyEnded(result)};
}

// Waits for an answer of this attempt or of the hedge; returns why the wait ended.
ParkResult CallInProgress::Wait(const PendingAnswer& answer) {
  const TimePoint hedge_at = MayHedge() ? AddSaturated(this_thread::Now(), *hedge_after_) : kNever;
  while (!answer.is_there() && !HedgeAnswered()) {
    if (path_.cancelled()) return ParkResult::kDeadline;
    const TimePoint until =
        hedge_is_decided_ ? path_.deadline() : std::min(hedge_at, path_.deadline());
    const ParkResult result = this_thread::Park(until);
    if (result == ParkResult::kWoken || answer.is_there()) continue;
    if (result == ParkResult::kStopping || until == path_.deadline()) return result;
    StartHedge();
  }
  return ParkResult::kWoken;
}

CallInProgress::Attempt CallInProgress::Take(StatusOr<CallAnswer>& answer, const Replica& replica) {
  if (!answer.ok()) {
    return {Progress::kSentAndLost, Annotate(answer.status(), "calling " + path_.Target())};
  }
  ResponseHeader& header = answer->header;
  const TimePoint now = this_thread::Now();
  report_.duration = now - path_.begun();
  path_.Answered(header, now);
  report_.queue_time = header.queue_time;
  report_.run_time = header.run_time;
  report_.load_index = header.load_index;
  report_.ended_early = header.ended_early;
  report_.extension = std::move(header.extension);
  if (header.status.ok()) {
    *response_ = Data(std::move(answer->payload));
    return {Progress::kAnswered, OkStatus()};
  }
  return {Progress::kAnswered,
          Annotate(header.status, StrCat("node ", replica.node, " on ", path_.Target()))};
}

bool CallInProgress::MayHedge() const {
  return hedge_after_ && !hedge_is_decided_ && path_.header().access == AccessMode::kRead;
}

void CallInProgress::StartHedge() {
  hedge_is_decided_ = true;
  if (!path_.SpendRetry()) return;
  hedge_ = Hedge::Start(session_, path_.header(), request_, path_.deadline(), path_.tried());
  report_.hedged = hedge_ != nullptr;
}

CallInProgress::Attempt CallInProgress::AdoptHedge() {
  path_.GiveUp();
  const CallReport& of_hedge = hedge_->report();
  report_.server = of_hedge.server;
  report_.attempts += of_hedge.attempts;
  report_.queue_time = of_hedge.queue_time;
  report_.run_time = of_hedge.run_time;
  report_.load_index = of_hedge.load_index;
  report_.ended_early = of_hedge.ended_early;
  report_.extension = of_hedge.extension;
  *response_ = hedge_->ReleaseResponse();
  return {Progress::kAnswered, OkStatus()};
}

void CallInProgress::AwaitHedge() {
  while (hedge_ != nullptr && !hedge_->ended() && !path_.cancelled()) {
    if (this_thread::Park(path_.deadline()) != ParkResult::kWoken) return;
  }
}

}  // namespace neptune
