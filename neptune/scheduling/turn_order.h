// The order in which the computations that share a kernel thread take turns: the shortest expected
// first, with a bound on waiting.
//
//   begins ──► runs to the point where it says what it expects ──┐
//                                                                ▼
//   holds the turn ◄── overdue: waited `wait_max`, for a slice ── waits for a turn
//        │        ◄── owed: of a class below its guarantee ─────
//        │        ◄── else the one with the least work left ────
//        └─ at a stop check: one that goes first is there ──────► waits for a turn
//
// Work that has not begun goes before all that wait and are not overdue, because most of it is
// short and its length is not known yet. The holder gives way to it and to shorter computations,
// once its turn has lasted `turn_min`, or `slice` if it was overdue; a holder that is owed
// processor time gives way to its own group only. A computation among n is therefore at work again
// after at most
//   wait_max + (n - 1) * slice + the longest stretch without a stop check
// whatever else arrives, and then for at least one slice.
//
// Source: shortest remaining processing time [Schrage68]; bounds on waiting instead of ageing,
//   because a bound can be promised.
// No I/O, no clock.
// Threads: thread-compatible.
// Units: work in units of those who wait, for instance postings; only its order matters.
// Limits: none; the owners of the computations bound them. O(n) a decision.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/base/time.h"

namespace neptune {

struct TurnOptions {
  // How long a turn lasts at least. Larger: fewer changes of turn, short work waits longer.
  // Default: most computations end within it, and a change costs a hundredth of it.
  Duration turn_min = std::chrono::microseconds(200);
  // How long a computation waits for a turn at most, apart from others that are overdue too.
  // Smaller: long computations progress more while short ones arrive; short ones wait more often.
  // Default: a fifth of what a user notices.
  Duration wait_max = std::chrono::milliseconds(20);
  // How long the turn of an overdue computation lasts at least. Larger: the same. Default: each
  // long computation gets a twentieth of the processor whatever arrives.
  Duration slice = std::chrono::milliseconds(1);
};

// What an unfinished computation asks for.
struct TurnClaim {
  // Expected work that is left; see WorkLeft.
  uint64_t work_left = 0;
  // Computations of one group compete by length alone, for instance those of a service class.
  uint64_t group = 0;
  // Its group is below its guaranteed share of the processor.
  bool is_owed = false;
};

// Expected work that is left after `done` of `expected`. Beyond the expectation nothing is known,
// and more is left the longer it has taken.
inline uint64_t WorkLeft(uint64_t expected, uint64_t done) {
  return done < expected ? expected - done : done - expected;
}

class TurnOrder {
 public:
  explicit TurnOrder(const TurnOptions& options = {}) : options_(options) {}

  // A computation that waits for a turn. REQUIRES: `id` does not wait.
  void Add(uint64_t id, const TurnClaim& claim, TimePoint now);
  // Returns false if it does not wait.
  bool Remove(uint64_t id);

  struct Turn {
    uint64_t id = 0;
    // Until then the holder gives way to none.
    TimePoint kept_until;
  };
  // Removes and returns the one to run next; nullopt: none waits.
  std::optional<Turn> Next(TimePoint now);
  // `kept_until` of a computation that begins without having waited.
  TimePoint KeptByBeginner(TimePoint now) const { return now + options_.turn_min; }

  // Work that has not begun and waits.
  struct Beginner {
    uint64_t group = 0;
  };
  // True if the holder of the turn must wait for another one. `kept_until`: of its turn.
  // `beginner`: the next work to begin, if there is some.
  bool MustGiveWay(const TurnClaim& holder, TimePoint kept_until,
                   const std::optional<Beginner>& beginner, TimePoint now) const;

  bool HasOverdue(TimePoint now) const;
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    uint64_t id = 0;
    TurnClaim claim;
    TimePoint since;
  };

  bool IsOverdue(const Waiting& one, TimePoint now) const {
    return now - one.since >= options_.wait_max;
  }
  // True if `a` gets the turn before `b`.
  bool Precedes(const Waiting& a, const Waiting& b, TimePoint now) const;

  const TurnOptions options_;
  std::vector<Waiting> waiting_;  // in the order of arrival
};

}  // namespace neptune
