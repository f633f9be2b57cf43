// A request that lets shorter ones of its worker loop go first (RequestContext::GiveWay).
//
//   worker loop ── turn ──► one computation that has begun
//                  others of the loop that have begun wait, parked (loop_turns.h, turn_order.h)
//
// On a loop that reads requests the computation also lets the loop's events go first, at its first
// stop check after kLoopHeldMax.
//
// A computation that waits for its turn keeps its place in the pool, so the number of those that
// have begun is that of the places. It stops waiting when its request has to stop.
//
// Threads: the user-level thread that serves the request.
// Limits: none of its own. In a request that no pool runs, nothing is waited for.

#pragma once

#include <cstdint>

#include "neptune/base/time.h"
#include "neptune/service/request_context.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

class LoopTurns;
class LongWork;
struct TurnClaim;

// The worker loop and the group of a request of a pool; the pool owns it.
class LongWorkPlace {
 public:
  LongWorkPlace(LoopTurns& turns, uint64_t group) : turns_(turns), group_(group) {}
  virtual ~LongWorkPlace() = default;

  // True if the class of the request has had less than its guaranteed share.
  virtual bool IsOwed() const = 0;
  LoopTurns& turns() const { return turns_; }
  uint64_t group() const { return group_; }
  // The request is about to wait for something else; its turn goes to the next one.
  void LeaveTurn();

  // The calling thread's place; null: none.
  static LongWorkPlace* Current();
  static void SetCurrent(LongWorkPlace* place);

 private:
  friend class LongWork;
  LoopTurns& turns_;
  const uint64_t group_;
  LongWork* work_ = nullptr;  // in progress
};

class LongWork final : public TurnTaker {
 public:
  // Larger: fewer changes of thread during a long computation, and requests are read later.
  static constexpr Duration kLoopHeldMax = std::chrono::microseconds(300);

  // REQUIRES: `context` outlives it; at most one at a time in a request.
  explicit LongWork(const RequestContext& context);
  ~LongWork() override;
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  void Expect(uint64_t work) override;
  // Costs two loads while nothing waits; on a loop that reads requests, reading the clock.
  bool Advance(uint64_t done) override;

 private:
  friend class LoopTurns;
  friend class LongWorkPlace;

  TurnClaim Claim() const;
  bool Begin();
  // Lets the events of the loop go first if they have waited for long.
  bool LetEventsGoFirst();
  void Wait(const TurnClaim& claim, TimePoint now);

  const RequestContext& context_;
  LongWorkPlace* const place_;  // null: nothing is waited for
  UserThread* const thread_;
  uint64_t expected_ = 0;
  uint64_t done_ = 0;
  bool has_turn_ = false;
  TimePoint kept_until_;  // of the turn
  TimePoint held_since_;  // the loop, if it reads requests
};

}  // namespace neptune
