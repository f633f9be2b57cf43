#include "tools/mtrr/closed_loop.h"

#include <glog/logging.h>

#include <utility>

namespace search::tools {
namespace {

// Pause after a failure, so that a server that refuses everything is not called in a tight loop.
constexpr neptune::Duration kPauseAfterFailure = std::chrono::milliseconds(5);

}  // namespace

ClosedLoop::~ClosedLoop() { Stop(); }

void ClosedLoop::Start(int at_once) {
  CHECK_LT(static_cast<size_t>(at_once), plan_.requests.size());
  running_ = true;
  for (int i = 0; i < at_once; ++i) SendOne();
}

void ClosedLoop::Drain(neptune::Task on_drained) {
  running_ = false;
  on_drained_ = std::move(on_drained);
  if (under_way_count_ == 0) loop_.Post(std::move(on_drained_));
}

void ClosedLoop::Stop() {
  running_ = false;
  for (uint32_t i = 0; i < under_way_.size(); ++i) {
    if (!under_way_[i]) continue;
    under_way_[i] = false;
    target_.Abandon(i);
  }
  under_way_count_ = 0;
}

void ClosedLoop::BeginCount() {
  counts_ = ClosedLoopCounts();
  counted_from_ = loop_.Now();
}

ClosedLoopCounts ClosedLoop::EndCount() {
  counts_.elapsed_s = neptune::ToSeconds(loop_.Now() - counted_from_);
  return counts_;
}

// The plan's next request that is not outstanding; one exists because the plan has more requests
// than are sent at once.
void ClosedLoop::SendOne() {
  while (under_way_[next_]) next_ = (next_ + 1) % under_way_.size();
  const uint32_t request = next_;
  next_ = (next_ + 1) % under_way_.size();
  under_way_[request] = true;
  ++under_way_count_;
  target_.Send(request, plan_.requests[request], this);
}

void ClosedLoop::Done(uint32_t request, Outcome outcome, const AnswerFacts&) {
  under_way_[request] = false;
  --under_way_count_;
  if (!running_) {
    if (under_way_count_ == 0 && on_drained_) loop_.Post(std::move(on_drained_));
    return;
  }
  if (outcome == Outcome::kAnswered) {
    ++counts_.answered_count;
    return SendOne();
  }
  ++counts_.failed_count;
  loop_.RunAt(loop_.Now() + kPauseAfterFailure, [this] {
    if (running_) SendOne();
  });
}

}  // namespace search::tools
