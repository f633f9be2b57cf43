// How far a partition's data have been read back and checked: one pass after another, each at most
// once per interval.
//
//   due ──part──part──...──end──► due again, `interval` after the pass began
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes; times are TimePoint.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "neptune/base/time.h"
#include "neptune/replication/state/replicated_state.h"

namespace neptune {

// What status pages show.
struct ScrubProgress {
  uint64_t checked_size = 0;  // of all passes
  uint64_t pass_count = 0;    // that ended
  TimePoint ended_at = TimePoint::min();
};

class ScrubPass {
 public:
  // The first pass begins at `first`. REQUIRES: interval > 0.
  ScrubPass(Duration interval, TimePoint first) : interval_(interval), due_(first) {}

  // When the next part is due.
  TimePoint due() const { return due_; }
  // The beginning of that part.
  const std::string& next() const { return next_; }
  const ScrubProgress& progress() const { return progress_; }

  // The part that is due was found sound; the next one is due at `next_due`, or with the next pass.
  void Advance(VerifiedPart part, TimePoint now, TimePoint next_due) {
    if (next_.empty()) began_at_ = now;
    progress_.checked_size += part.size;
    due_ = next_due;
    if (part.next) {
      next_ = *std::move(part.next);
      return;
    }
    next_.clear();
    ++progress_.pass_count;
    progress_.ended_at = now;
    due_ = std::max(next_due, began_at_ + interval_);
  }
  // The part could not be read; it is due again at `retry`.
  void Postpone(TimePoint retry) { due_ = retry; }
  // The data were replaced: the next part is the first one.
  void Restart() { next_.clear(); }

 private:
  const Duration interval_;
  TimePoint due_;
  TimePoint began_at_{};
  std::string next_;  // empty: a pass begins
  ScrubProgress progress_;
};

}  // namespace neptune
