// Maximum number of concurrent requests, learned from how they end.
//
//   limit
//     │   ╱│                   before the first wait: +1 for each request that ends well;
//     │  ╱ │   ╱│    ╱│        after it: +1 for each `limit` requests that end well while it is
//     │ ╱  │ ╱  │  ╱  │ ╱      in use; decreased by how much the wait exceeded the goal, when a
//     │╱   ╱    ╱     ╱        request that began after the last cut met overload
//     └──────────────────────► t
//
// A request met overload if a server refused it, or if it waited at a server for longer than the
// goal plus twice its run time there. One that waited for more than half of that leaves the limit
// as it is: servers are busy, and more requests would only wait there instead of at the caller,
// where they are ordered. Growth to the goal itself would also overrun the queues of servers, of
// requests that are short.
//
// Source: additive increase, multiplicative decrease [Chiu89]; queueing time in servers
//   as the sign of overload (DAGOR [Zhou18]).
// Threads: thread-compatible.
// Units: requests.

#pragma once

#include <algorithm>
#include <cstddef>

#include "neptune/base/time.h"

namespace neptune {

struct ConcurrencyLimitOptions {
  // Initial limit. Default: 8.
  size_t initial = 8;
  // Lower bound. Smaller: less is sent when other callers overload the servers. Default: 4.
  size_t min = 4;
  size_t max = 1024;
  // Longest wait at a server that is not a sign of overload. Larger: more waiting at servers, where
  // requests cannot be reordered, and less idle time in short lulls. Default: 20 ms.
  Duration wait_goal = std::chrono::milliseconds(20);
  // Factor on the limit after a sign of overload: `decrease` at most, `decrease_max` at least.
  // Default: 0.85 and 0.5.
  double decrease = 0.85;
  double decrease_max = 0.5;
};

// Outcome of a request that was in progress.
struct RequestEnd {
  TimePoint begun;
  // A server or gate had no room for it.
  bool refused = false;
  // Its caller left before the end, which says nothing about the servers.
  bool abandoned = false;
  // The longest time it waited at a server, and its run time there.
  Duration server_wait{0};
  Duration server_run{0};
};

class ConcurrencyLimit {
 public:
  // REQUIRES: 1 <= min <= initial <= max, 0 < decrease_max <= decrease < 1.
  explicit ConcurrencyLimit(const ConcurrencyLimitOptions& options = {})
      : options_(options), limit_(static_cast<double>(options.initial)) {}

  // `under_way`: number of requests in progress just before this one ended, including it.
  void OnEnd(const RequestEnd& end, size_t under_way, TimePoint now) {
    if (end.abandoned) return;
    const Duration goal = options_.wait_goal + 2 * end.server_run;
    if (end.refused || end.server_wait > goal) {
      // A request that began before the last cut reflects the limit before it.
      if (end.begun < cut_at_) return;
      const double excess =
          end.server_wait > goal ? ToSeconds(goal) / ToSeconds(end.server_wait) : 1;
      const double left = std::clamp(excess, options_.decrease_max, options_.decrease);
      limit_ = std::max(static_cast<double>(options_.min), limit_ * left);
      cut_at_ = now;
      was_cut_ = true;
    } else if (2 * end.server_wait > goal) {
      was_cut_ = true;
    } else if (2 * under_way >= limit()) {
      limit_ = std::min(static_cast<double>(options_.max), limit_ + (was_cut_ ? 1 / limit_ : 1));
    }
  }

  size_t limit() const { return static_cast<size_t>(limit_); }

 private:
  const ConcurrencyLimitOptions options_;
  double limit_;
  TimePoint cut_at_ = TimePoint::min();  // the last cut
  bool was_cut_ = false;                 // or servers were seen busy
};

}  // namespace neptune
