#include "neptune/capsule/capsule_permit.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"

namespace neptune {
namespace {

constexpr std::string_view kBypassed = " is bypassed: what it waits for does not answer in time";

}  // namespace

bool SaysBypassed(const Status& status) {
  return status.code() == StatusCode::kUnavailable && ToStd(status.message()).ends_with(kBypassed);
}

CapsulePermit::~CapsulePermit() { Leave(CapsuleOutcome::kCancelled); }

std::string CapsulePermit::Where() const {
  return capsule_.get() == nullptr ? "no capsule" : StrCat("capsule '", capsule_->name(), "'");
}

Status CapsulePermit::Arrive(CapsuleStack& stack, const BlockingOperation& operation,
                             const VisitOptions& options) {
  CHECK(!inside()) << "a permit enters while it is inside " << Where();
  const TimePoint now = options.now ? *options.now : Loop::Current()->Now();
  migrated_ = false;
  capsule_ = stack.FindForUse(operation);
  for (int hop = 0; capsule_.get() != nullptr; ++hop) {
    if (capsule_->TryEnterQuickly(*this, options.deadline, now)) return OkStatus();
    limited_by_capsule_ = false;
    migration_target_.clear();
    call_ = {.caller = options.caller,
             .deadline = options.deadline,
             .may_migrate = options.may_migrate,
             .service_class = options.service_class,
             .operation = operation};
    const Capsule::Arrival arrival = capsule_->Arrive(*this, call_, now);
    if (inside()) return OkStatus();
    if (arrival == Capsule::Arrival::kGone) {  // destroyed after Find
      capsule_ = stack.FindForUse(operation);
      continue;
    }
    CapsuleStack::Use next;
    if (!migration_target_.empty()) next = stack.NamedForUse(migration_target_);
    if (next.get() == nullptr || next->type() != capsule_->type() || hop == kMigrationCountMax) {
      return Refusal(arrival);
    }
    capsule_ = std::move(next);
    migrated_ = true;
  }
  deadline_ = options.deadline;
  return OkStatus();
}

Status CapsulePermit::Refusal(Capsule::Arrival arrival) const {
  switch (arrival) {
    case Capsule::Arrival::kRefused:
      return ResourceExhausted(Where(), " is full");
    case Capsule::Arrival::kBypassed:
      return Unavailable(Where(), kBypassed);
    case Capsule::Arrival::kTerminated:
      return Aborted(Where(), ": its policy ended the call");
    default:
      return Unavailable(Where(), " sends the call to capsule '", migration_target_,
                         "', which cannot take it");
  }
}

Status CapsulePermit::Enter(CapsuleStack& stack, const BlockingOperation& operation,
                            const VisitOptions& options) {
  waited_ = false;
  NEPTUNE_RETURN_IF_ERROR(Arrive(stack, operation, options));
  if (!inside() || place_.load(std::memory_order_acquire) == Capsule::Place::kProcessing) {
    return OkStatus();
  }
  return AwaitTurn(options);
}

void CapsulePermit::EndDelay(TimePoint now) { capsule_->EndDelay(*this, call_, now); }

Status CapsulePermit::AwaitTurn(const VisitOptions& options) {
  UserThread* const self = UserThread::Current();
  CHECK(self != nullptr) << "waiting for a turn in " << Where() << " outside a user-level thread";
  waited_ = true;
  const OutsideMainPool outside;
  int wake_count = 0;
  Status status;
  while (true) {
    const Capsule::Place place = place_.load(std::memory_order_acquire);
    if (place == Capsule::Place::kProcessing) break;
    const TimePoint now = Loop::Current()->Now();
    if (options.given_up && options.given_up()) {
      status = Cancelled(Where(), ": the call was cancelled before its turn");
    } else if (now >= deadline_) {
      status = DeadlineExceeded(Where(), ": the call timed out before its turn");
    } else if (place == Capsule::Place::kDelayed && now >= not_before_) {
      EndDelay(now);
      continue;
    }
    if (!status.ok()) break;
    const TimePoint until =
        place == Capsule::Place::kDelayed ? std::min(deadline_, not_before_) : deadline_;
    const ParkResult result = this_thread::Park(until);
    if (result == ParkResult::kWoken) ++wake_count;
    if (result == ParkResult::kStopping) status = Cancelled(Where(), ": the scheduler is stopping");
    if (!status.ok()) break;
  }
  if (!status.ok()) {
    Leave(status.code() == StatusCode::kDeadlineExceeded ? CapsuleOutcome::kTimedOut
                                                         : CapsuleOutcome::kCancelled);
  }
  // One wake announced the turn; any further one was meant for an outer wait, so pass it on.
  if (wake_count > (status.ok() ? 1 : 0)) self->Wake();
  return status;
}

std::optional<Status> CapsulePermit::Begin(CapsuleStack& stack, const BlockingOperation& operation,
                                           const VisitOptions& options, Task on_turn) {
  turn_ = std::make_shared<Turn>();
  loop_ = Loop::Current();
  const Status status = Arrive(stack, operation, options);
  const Capsule::Place place = place_.load(std::memory_order_acquire);
  const bool waits =
      status.ok() && (place == Capsule::Place::kWaiting || place == Capsule::Place::kDelayed);
  if (!waits) {
    turn_->awaited = false;
    turn_.reset();
    return status;
  }
  turn_->on_turn = std::move(on_turn);
  if (place == Capsule::Place::kDelayed) AwaitEndOfDelay();
  return std::nullopt;
}

void CapsulePermit::AwaitEndOfDelay() {
  loop_->RunAt(not_before_, [this, turn = turn_] {
    if (!turn->awaited) return;
    EndDelay(loop_->Now());
    if (place_.load(std::memory_order_acquire) == Capsule::Place::kProcessing) SignalTurn(turn);
  });
}

void CapsulePermit::SignalTurn(const std::shared_ptr<Turn>& turn) {
  if (std::exchange(turn->awaited, false)) std::exchange(turn->on_turn, nullptr)();
}

void CapsulePermit::PrepareToWait() {
  if (turn_ == nullptr) thread_ = ThreadRef(UserThread::Current());
}

absl::AnyInvocable<void()> CapsulePermit::ReleaseWaker() {
  if (turn_ == nullptr) {
    return [thread = std::move(thread_)] { thread->Wake(); };
  }
  return [loop = loop_, turn = turn_] { loop->Post([turn] { SignalTurn(turn); }); };
}

void CapsulePermit::Leave(CapsuleOutcome outcome) { End(outcome, /*left_behind=*/false); }

void CapsulePermit::Leave(CapsuleOutcome outcome, TimePoint now) {
  if (quick_thread_ != kNotQuick) {
    return capsule_->Leave(*this, outcome, /*left_behind=*/false, now);
  }
  End(outcome, /*left_behind=*/false, now);
}

void CapsulePermit::End(CapsuleOutcome outcome, bool left_behind, std::optional<TimePoint> now) {
  if (inside()) {
    if (!now) {
      Loop* const loop = Loop::Current();  // null while a node is destroyed
      now = loop == nullptr ? entered_at_ : loop->Now();
    }
    capsule_->Leave(*this, outcome, left_behind, *now);
  }
  if (turn_ != nullptr) turn_->awaited = false;
  turn_.reset();
}

}  // namespace neptune
