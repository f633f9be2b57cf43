// The turns of the long computations of one worker loop. At most one of them has the turn; the
// others that have begun are parked until it is theirs.
//
//   WorkerQueue ── NoteBeginner ──┐            ┌── LongWork: TakeIfFirst, MustGiveWay, Enqueue
//                                 ▼            ▼
//                              LoopTurns ─► TurnOrder
//                                 └─► wakes the one whose turn it is, once the loop is free
//
// A beginner is work that waits for a worker loop. A loop interrupts a computation for it only if
// the others compute for long, too, or if it has waited for a while: what has begun cannot move to
// another loop, so it should begin where it can also end.
//
// Threads: the loop's thread, except for what says any thread.
// Limits: as many as requests of the loop have begun.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "neptune/base/time.h"
#include "neptune/scheduling/turn_order.h"
#include "neptune/world/loop.h"

namespace neptune {

class LongWork;
class NodeLoops;

class LoopTurns {
 public:
  // Both outlive it; `loops` has the other worker loops. `reads_requests`: the loop does, too.
  LoopTurns(Loop& loop, const NodeLoops& loops, bool reads_requests)
      : loop_(loop), loops_(loops), reads_requests_(reads_requests) {}
  ~LoopTurns() { *alive_ = false; }

  // Any thread: work of the group waits, and this loop will look for it; or it has looked.
  void NoteBeginner(uint64_t group, TimePoint since);
  void NoteNoBeginner() { beginner_since_ns_.store(kNone, std::memory_order_relaxed); }
  bool has_beginner() const { return beginner_since_ns_.load(std::memory_order_relaxed) != kNone; }

  // A computation of the loop must let its events go first now and then.
  bool reads_requests() const { return reads_requests_; }
  // A computation has the turn.
  bool is_taken() const { return holder_ != nullptr; }

  TimePoint Now() const { return loop_.Now(); }
  // Something waits that the computation with the turn may have to give way to. Costs little.
  bool IsContended() const { return has_beginner() || !order_.empty(); }
  // Gives `work` the turn if no other has it or goes first.
  bool TakeIfFirst(LongWork* work, TimePoint now);
  // REQUIRES: the caller has the turn, and has kept it as long as it may.
  bool MustGiveWay(const TurnClaim& claim, TimePoint now);
  // `work` waits; returns the number to leave with.
  uint64_t Enqueue(LongWork* work, const TurnClaim& claim, TimePoint now);
  void Dequeue(uint64_t number);
  // Takes the turn back if `work` has it, for the next one.
  void Release(LongWork* work);

  // Gives the turn to the next one, if none has it and no beginner goes first. Called when the loop
  // may be free.
  void GiveTurn();
  // True if a computation has waited too long and nothing keeps it from going on.
  bool OwesTurn() const { return holder_ == nullptr && order_.HasOverdue(loop_.Now()); }

 private:
  static constexpr int64_t kNone = INT64_MIN;

  void Assign(LongWork* work, TimePoint kept_until);
  void GiveTurnSoon();
  // True if every other worker loop has been at one computation for long.
  bool OthersAreLong() const;

  Loop& loop_;
  const NodeLoops& loops_;
  const bool reads_requests_;
  std::atomic<int64_t> beginner_since_ns_{kNone};
  std::atomic<uint64_t> beginner_group_{0};
  std::atomic<bool> is_long_{false};  // the turn has lasted as long as it is kept
  TurnOrder order_;
  std::map<uint64_t, LongWork*> waiting_;  // by number
  uint64_t last_number_ = 0;
  LongWork* holder_ = nullptr;
  bool gives_soon_ = false;
  // False once this is destroyed. Shared with tasks that may outlive it.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace neptune
