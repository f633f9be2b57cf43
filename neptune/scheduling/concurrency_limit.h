// How many requests may be under way at once, learned from how they end.
//
//   limit
//     │   ╱│                   before the first cut, one more for each that ends well;
//     │  ╱ │   ╱│    ╱│        after it one more for each limit that end well, while the limit is in use;
//     │ ╱  │ ╱  │  ╱  │ ╱      less, by how far the wait was from the goal, when one met overload that began after the
//     │╱   ╱    ╱     ╱        last such cut
//     └──────────────────────► t
//
// A request met overload if a server refused it, or if it waited at a server for longer than the goal and twice the time
// that it then ran.
//
// Source: additive increase, multiplicative decrease (Chiu and Jain 1989); the time in servers' queues as the sign of
// overload (DAGOR, SoCC 2018).
// Threads: thread-compatible. Units: requests.

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "neptune/base/time.h"

namespace neptune {

struct ConcurrencyLimitOptions {
  // Before anything is learned. Default: 8.
  size_t initial = 8;
  // Smaller: less is sent when servers are overloaded by others; it is never lower than this. Default: 4.
  size_t min = 4;
  size_t max = 1024;
  // Longest wait at a server that is no sign of overload. Larger: more waits at servers, where it cannot be reordered, and
  // less is left idle by short lulls. Default: 20 ms.
  Duration wait_goal = std::chrono::milliseconds(20);
  // What is left of the limit after a sign of overload, at most, and at least. Default: 0.85 and 0.5.
  double decrease = 0.85;
  double decrease_max = 0.5;
};

// How a request ended that was under way.
struct RequestEnd {
  TimePoint begun;
  // Somebody had no room for it.
  bool refused = false;
  // The longest that it waited at a server, and ran there.
  Duration server_wait{0};
  Duration server_run{0};
};

class ConcurrencyLimit {
 public:
  // REQUIRES: 1 <= min <= initial <= max, 0 < decrease_max <= decrease < 1.
  explicit ConcurrencyLimit(const ConcurrencyLimitOptions& options = {})
      : options_(options), limit_(static_cast<double>(options.initial)) {}

  // `under_way`: requests just before this one ended, itself included.
  void OnEnd(const RequestEnd& end, size_t under_way, TimePoint now) {
    const Duration goal = options_.wait_goal + 2 * end.server_run;
    if (end.refused || end.server_wait > goal) {
      // What began before the last cut tells of the limit before it.
      if (cut_at_ && end.begun < *cut_at_) return;
      const double excess =
          end.server_wait > goal ? ToSeconds(goal) / ToSeconds(end.server_wait) : 1;
      const double left = std::clamp(excess, options_.decrease_max, options_.decrease);
      limit_ = std::max(static_cast<double>(options_.min), limit_ * left);
      cut_at_ = now;
    } else if (2 * under_way >= limit()) {
      limit_ = std::min(static_cast<double>(options_.max), limit_ + (cut_at_ ? 1 / limit_ : 1));
    }
  }

  size_t limit() const { return static_cast<size_t>(limit_); }

 private:
  const ConcurrencyLimitOptions options_;
  double limit_;
  std::optional<TimePoint> cut_at_;
};

}  // namespace neptune
