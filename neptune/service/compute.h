// Interruptible computation: parts of handlers that never poll ShouldStop and are interrupted when
// their request has to stop.
//
//   worker loop     Compute ─── body ────────────────────► its end, or where it was interrupted
//                      │          ▲ signal
//   watch thread       └► polls each millisecond: caller gone? deadline? time limit?
//
// Threads: Compute runs on any loop of a node; one kernel thread of the process polls, from the
//   first Compute on.
// Limits: the number of running requests. In the simulated world code takes no time, so a body is
//   never interrupted.

#pragma once

#include <utility>

#include "neptune/sert/compute_region.h"
#include "neptune/service/service_module.h"

namespace neptune {

// While it lives, the region is interrupted once the request has to stop.
class WatchedCompute {
 public:
  // REQUIRES: on the thread that serves the request; everything outlives it.
  WatchedCompute(const RequestContext& context, ComputeRegion& region);
  ~WatchedCompute();
  WatchedCompute(const WatchedCompute&) = delete;
  WatchedCompute& operator=(const WatchedCompute&) = delete;

  // Any thread.
  void InterruptIfDue() const;

 private:
  const RequestContext& context_;
  ComputeRegion& region_;
  Loop& loop_;
  const LimitedRequest* const limited_;
  const bool is_watched_;
};

// Runs `body`, passing it the memory that it may use; see ComputeRegion for what else it may do.
// Returns false if the request has to stop (RequestContext::ShouldStop) and the body was
// interrupted between two of its instructions.
template <typename Body>
bool Compute(const RequestContext& context, Body&& body) {
  ComputeRegion region;
  const WatchedCompute watched(context, region);
  return region.Run(std::forward<Body>(body));
}

// Used by the host only: the limit of the request that the calling user-level thread serves.
void SetLimitOfThread(LimitedRequest* limited);
LimitedRequest* LimitOfThread();  // null: none

}  // namespace neptune
