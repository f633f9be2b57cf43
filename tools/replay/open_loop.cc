#include "tools/replay/open_loop.h"

#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {

using neptune::Status;
using std::chrono::nanoseconds;

OpenLoop::OpenLoop(neptune::Loop& loop, const ReplayPlan& plan, LoadTarget& target,
                   const OpenLoopOptions& options, LoadObserver& observer)
    : loop_(loop), plan_(plan), target_(target), options_(options), observer_(observer) {}

OpenLoop::~OpenLoop() {
  for (const neptune::TimerId timer : {send_timer_, timeout_timer_, tick_timer_}) {
    loop_.CancelTimer(timer);
  }
}

void OpenLoop::Start() {
  running_ = true;
  zero_ = loop_.Now() + options_.lead;
  tick_timer_ = loop_.RunAt(loop_.Now() + options_.tick, [this] { Tick(); });
  PlanNext();
}

void OpenLoop::PlanNext() {
  if (next_ == plan_.requests.size()) return EndIfDone();
  send_timer_ =
      loop_.RunAt(zero_ + nanoseconds(plan_.requests[next_].at_ns), [this] { SendDue(); });
}

void OpenLoop::SendDue() {
  int64_t now = NowNs();
  for (int i = 0; i < kBurstMax && next_ < plan_.requests.size(); ++i, now = NowNs()) {
    const PlannedRequest& planned = plan_.requests[next_];
    if (planned.at_ns > now) break;
    const uint32_t request = next_++;
    in_flight_[request] = now;
    give_up_.emplace_back(now + options_.timeout.count(), request);
    ++progress_.sent_count;
    if (!target_.Send(request, planned, this)) ++progress_.held_count;
  }
  PlanTimeout();
  PlanNext();
}

void OpenLoop::Sent(uint32_t request) {
  const auto entry = in_flight_.find(request);
  if (entry != in_flight_.end()) entry->second = NowNs();
}

void OpenLoop::Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) {
  if (outcome != Outcome::kConnection) refused_since_ns_ = -1;
  Finish(request, outcome, facts);
  EndIfDone();
}

void OpenLoop::Refused(const Status& why) {
  const int64_t now = NowNs();
  if (refused_since_ns_ < 0) refused_since_ns_ = now;
  if (now - refused_since_ns_ < options_.refused_max.count()) return;
  Stop(neptune::Unavailable("the target refused every connection for ",
                            neptune::ToSeconds(options_.refused_max), " s (",
                            neptune::ToStd(why.message()), "); the run ends after ",
                            progress_.sent_count, " of ", plan_.requests.size(), " requests"));
}

void OpenLoop::Finish(uint32_t request, Outcome outcome, const AnswerFacts& facts) {
  const auto entry = in_flight_.find(request);
  if (entry == in_flight_.end()) return;
  const PlannedRequest& planned = plan_.requests[request];
  const bool answered = outcome == Outcome::kAnswered;
  finished_.push_back({.intended_ns = planned.at_ns,
                       .sent_ns = entry->second,
                       .done_ns = NowNs(),
                       .request = request,
                       .service_class = planned.service_class,
                       .outcome = outcome,
                       .cache = facts.cache,
                       .terminated = facts.terminated,
                       .quality = answered ? facts.quality : 0});
  in_flight_.erase(entry);
  ++progress_.done_count;
  if (answered) ++progress_.answered_count;
}

void OpenLoop::PlanTimeout() {
  while (!give_up_.empty() && !in_flight_.contains(give_up_.front().second)) give_up_.pop_front();
  if (give_up_.empty() || timeout_timer_ != 0) return;
  timeout_timer_ = loop_.RunAt(zero_ + nanoseconds(give_up_.front().first), [this] {
    timeout_timer_ = 0;
    DropTimedOut();
  });
}

void OpenLoop::DropTimedOut() {
  const int64_t now = NowNs();
  while (!give_up_.empty() && give_up_.front().first <= now) {
    const uint32_t request = give_up_.front().second;
    give_up_.pop_front();
    if (!in_flight_.contains(request)) continue;
    target_.Abandon(request);
    Finish(request, Outcome::kTimedOut, {});
  }
  PlanTimeout();
  EndIfDone();
}

void OpenLoop::Tick() {
  Flush();
  tick_timer_ = loop_.RunAt(loop_.Now() + options_.tick, [this] { Tick(); });
}

void OpenLoop::Flush() {
  progress_.now_ns = NowNs();
  progress_.in_flight_count = in_flight_.size();
  observer_.HandleFinished(std::exchange(finished_, {}), progress_);
}

void OpenLoop::EndIfDone() {
  if (next_ == plan_.requests.size() && in_flight_.empty()) Stop(neptune::OkStatus());
}

void OpenLoop::Stop(const Status& why) {
  if (!std::exchange(running_, false)) return;
  next_ = static_cast<uint32_t>(plan_.requests.size());
  for (const neptune::TimerId timer : {send_timer_, timeout_timer_, tick_timer_}) {
    loop_.CancelTimer(timer);
  }
  for (const auto& [request, sent_ns] : in_flight_) target_.Abandon(request);
  in_flight_.clear();
  Flush();
  observer_.HandleEnd(why);
}

}  // namespace search::tools
