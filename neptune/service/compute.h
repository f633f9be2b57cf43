// Parts of handlers that only compute and never ask: they are ended when their request has to stop.
//
//   worker loop     Compute ─── body ────────────────────► its end, or where it was ended
//                      │          ▲ signal
//   watch's thread     └► looks each millisecond while any computes: gone caller? deadline? time limit?
//
// Threads: Compute on any loop of a node; one kernel thread of the process looks, from the first Compute on.
// Limits: as many at once as requests run. In the simulated world, where code takes no time, every body ends by itself.

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

// Runs `body`, which gets the memory that it may use; ComputeRegion says what else it may do. False: the request has to
// stop, see RequestContext::ShouldStop, and the body was ended between two of its instructions.
template <typename Body>
bool Compute(const RequestContext& context, Body&& body) {
  ComputeRegion region;
  const WatchedCompute watched(context, region);
  return region.Run(std::forward<Body>(body));
}

// The host's own: the limit of the request that the calling user-level thread serves.
void SetLimitOfThread(LimitedRequest* limited);
LimitedRequest* LimitOfThread();  // null: none

}  // namespace neptune
