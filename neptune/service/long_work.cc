#include "neptune/service/long_work.h"

#include "neptune/scheduling/turn_order.h"
#include "neptune/service/loop_turns.h"
#include "neptune/thread/thread_specific.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

const ThreadSpecific<LongWorkPlace>& PlaceOfThread() {
  static const ThreadSpecific<LongWorkPlace> place;
  return place;
}

}  // namespace

LongWorkPlace* LongWorkPlace::Current() {
  return UserThread::Current() == nullptr ? nullptr : PlaceOfThread().get();
}

void LongWorkPlace::SetCurrent(LongWorkPlace* place) { PlaceOfThread().set(place); }

void LongWorkPlace::LeaveTurn() {
  if (work_ != nullptr) turns_.Release(work_);
}

LongWork::LongWork(const RequestContext& context)
    : context_(context), place_(LongWorkPlace::Current()), thread_(UserThread::Current()) {
  if (place_ == nullptr) return;
  place_->work_ = this;
  if (place_->turns().reads_requests()) held_since_ = place_->turns().Now();
}

LongWork::~LongWork() {
  if (place_ == nullptr) return;
  place_->work_ = nullptr;
  place_->turns().Release(this);
}

TurnClaim LongWork::Claim() const {
  return {.work_left = WorkLeft(expected_, done_),
          .group = place_->group(),
          .is_owed = place_->IsOwed()};
}

void LongWork::Expect(uint64_t work) {
  expected_ += work;
  if (place_ != nullptr && !has_turn_) Begin();
}

// Returns true if others ran first.
bool LongWork::Begin() {
  LoopTurns& turns = place_->turns();
  const TimePoint now = turns.Now();
  if (turns.TakeIfFirst(this, now)) return false;
  Wait(Claim(), now);
  return true;
}

bool LongWork::Advance(uint64_t done) {
  done_ += done;
  if (place_ == nullptr) return false;
  if (!has_turn_) return Begin();
  LoopTurns& turns = place_->turns();
  const bool has_let = turns.reads_requests() && LetEventsGoFirst();
  if (!turns.IsContended()) return has_let;
  const TimePoint now = turns.Now();
  if (now < kept_until_) return has_let;
  const TurnClaim claim = Claim();
  if (!turns.MustGiveWay(claim, now)) return has_let;
  turns.Release(this);
  Wait(claim, now);
  return true;
}

bool LongWork::LetEventsGoFirst() {
  const LoopTurns& turns = place_->turns();
  if (turns.Now() - held_since_ < kLoopHeldMax) return false;
  this_thread::Yield();
  held_since_ = turns.Now();
  return true;
}

void LongWork::Wait(const TurnClaim& claim, TimePoint now) {
  LoopTurns& turns = place_->turns();
  const uint64_t number = turns.Enqueue(this, claim, now);
  const CancelAction wake_me(context_.call().get(), [self = ThreadRef(thread_)] { self->Wake(); });
  while (!has_turn_ && !context_.ShouldStop()) {
    if (this_thread::Park(context_.deadline()) == ParkResult::kStopping) break;
  }
  if (!has_turn_) turns.Dequeue(number);
}

}  // namespace neptune
