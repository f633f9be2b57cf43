// The bounded queue of one service module: first come, first served, nothing stale.
//
// Source: dissertation 2.2 (request queue), 4.4 (what will yield nothing is dropped first).
// Layer: scheduling, policy. No I/O, no clock, no threads; the service's dispatcher owns it.
// Threads: thread-compatible.
// Units: times are TimePoint.
// Limits: RequestQueueOptions::length_max; one more is refused.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"

namespace neptune {

// Names a waiting request; the dispatcher's own number.
using RequestTicket = uint64_t;

struct WaitingRequest {
  RequestTicket ticket = 0;
  TimePoint arrived;
  TimePoint deadline = kNever;
  std::string service_class;
};

struct RequestQueueOptions {
  // Most waiting requests. Larger: longer bursts are taken, and wait longer. Default: 40, the
  // papers'.
  size_t length_max = 40;
};

class RequestQueue {
 public:
  explicit RequestQueue(const RequestQueueOptions& options = {}) : options_(options) {}

  // False at the limit: the request is refused.
  bool Push(WaitingRequest request);

  struct Picked {
    std::optional<WaitingRequest> next;
    // Their deadline passed while they waited: to be answered so, not served.
    std::vector<WaitingRequest> expired;
  };
  // Takes the request to serve next.
  Picked Pick(TimePoint now);

  // Takes out a request whose caller is gone; false if it is not waiting.
  bool Remove(RequestTicket ticket);

  // When the request came that has waited longest; kNever if none waits.
  TimePoint OldestArrival() const { return waiting_.empty() ? kNever : waiting_.front().arrived; }
  size_t length() const { return waiting_.size(); }

 private:
  const RequestQueueOptions options_;
  std::deque<WaitingRequest> waiting_;
};

}  // namespace neptune
