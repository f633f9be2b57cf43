// When a refusal is sent: at once, or later to a client that comes again sooner than it was asked
// to. A client in a closed loop would otherwise ask and be refused tens of thousands of times a
// second, and its refusals would take the processors from those who are served.
//
//   refused ──► sent at once, with Retry-After ──► comes again before that ──► refused ──► held
//                                                                     for Retry-After, then sent
//
// A held refusal is an answer that waits to be written: no thread is held, and the connection is
// not read meanwhile.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: at most `count_max` refusals are held, further ones are sent at once; none is held for
//   longer than `time_max`.

#pragma once

#include <algorithm>
#include <cstddef>

#include "neptune/base/time.h"

namespace neptune {

class RefusalHold {
 public:
  struct Limits {
    Duration time_max;
    size_t count_max;
  };

  explicit RefusalHold(const Limits& limits) : limits_(limits) {}

  // Returns when a refusal is to be sent: `now`, or the end of its hold, which Release must end.
  // `asked_until`: when the client, by its last refusal, may come again; moved.
  TimePoint SendAt(Duration retry_after, TimePoint now, TimePoint* asked_until) {
    const bool comes_early = now < *asked_until;
    const Duration time = std::min(retry_after, limits_.time_max);
    const bool holds = comes_early && time > Duration(0) && count_ < limits_.count_max;
    const TimePoint send_at = holds ? AddSaturated(now, time) : now;
    if (holds) ++count_;
    *asked_until = std::max(*asked_until, AddSaturated(send_at, retry_after));
    return send_at;
  }
  // A held refusal was sent, or its client is gone.
  void Release(size_t count = 1) { count_ -= count; }

  size_t count() const { return count_; }

 private:
  const Limits limits_;
  size_t count_ = 0;
};

}  // namespace neptune
