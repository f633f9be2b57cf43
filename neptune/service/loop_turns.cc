#include "neptune/service/loop_turns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/service/long_work.h"
#include "neptune/service/node_loops.h"

namespace neptune {
namespace {

// How long work waits for another loop that will probably be free soon. Larger: short work waits
// longer beside long work; smaller: long computations share a loop while another one is idle.
constexpr Duration kPatience = std::chrono::milliseconds(1);

}  // namespace

void LoopTurns::NoteBeginner(uint64_t group, TimePoint since) {
  beginner_group_.store(group, std::memory_order_relaxed);
  beginner_since_ns_.store(since.time_since_epoch().count(), std::memory_order_relaxed);
}

bool LoopTurns::OthersAreLong() const {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  return std::all_of(workers.begin(), workers.end(), [this](const NodeLoop* worker) {
    const LoopTurns& turns = *worker->turns;
    return &turns == this || turns.is_long_.load(std::memory_order_relaxed);
  });
}

bool LoopTurns::MustGiveWay(const TurnClaim& claim, TimePoint now) {
  std::optional<TurnOrder::Beginner> beginner;
  const int64_t since_ns = beginner_since_ns_.load(std::memory_order_relaxed);
  if (since_ns != kNone) {
    is_long_.store(true, std::memory_order_relaxed);
    if (OthersAreLong() || now >= TimePoint(Duration(since_ns)) + kPatience) {
      beginner = {.group = beginner_group_.load(std::memory_order_relaxed)};
    }
  }
  return order_.MustGiveWay(claim, now, beginner, now);
}

bool LoopTurns::TakeIfFirst(LongWork* work, TimePoint now) {
  if (holder_ != nullptr) return false;
  if (!order_.empty() && order_.MustGiveWay(work->Claim(), now, std::nullopt, now)) return false;
  Assign(work, order_.KeptByBeginner(now));
  return true;
}

void LoopTurns::Assign(LongWork* work, TimePoint kept_until) {
  holder_ = work;
  work->has_turn_ = true;
  work->kept_until_ = kept_until;
}

uint64_t LoopTurns::Enqueue(LongWork* work, const TurnClaim& claim, TimePoint now) {
  const uint64_t number = ++last_number_;
  order_.Add(number, claim, now);
  waiting_.emplace(number, work);
  GiveTurnSoon();
  return number;
}

void LoopTurns::Dequeue(uint64_t number) {
  order_.Remove(number);
  waiting_.erase(number);
}

void LoopTurns::Release(LongWork* work) {
  if (holder_ != work) return;
  holder_ = nullptr;
  work->has_turn_ = false;
  is_long_.store(false, std::memory_order_relaxed);
  if (!order_.empty()) GiveTurnSoon();
}

// The thread that gives way parks first, and work that waits for the loop has its chance.
void LoopTurns::GiveTurnSoon() {
  if (std::exchange(gives_soon_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    gives_soon_ = false;
    GiveTurn();
  });
}

void LoopTurns::GiveTurn() {
  if (holder_ != nullptr || order_.empty()) return;
  const TimePoint now = loop_.Now();
  if (has_beginner() && !order_.HasOverdue(now)) return;  // the turn is given after it
  const std::optional<TurnOrder::Turn> turn = order_.Next(now);
  LongWork* const next = waiting_.extract(turn->id).mapped();
  Assign(next, turn->kept_until);
  next->thread_->Wake();
}

}  // namespace neptune
