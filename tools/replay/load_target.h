// Target of requests: one interface, a variant for each protocol.
//
// Threads: the loop that the target was made for.
// Errors: a request that fails is an outcome, never a status.

#pragma once

#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "tools/replay/measurement.h"
#include "tools/replay/replay_plan.h"

namespace search::tools {

// Hears what becomes of requests.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // The request is with the operating system, or its connection has begun. Before Done; the last
  // one counts. A target that cannot tell leaves it out, and the request counts as sent inside
  // Send.
  virtual void Sent(uint32_t request) = 0;
  // Once for each request that was not abandoned. Not inside Send.
  virtual void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) = 0;
  // A connection could not be made, and why.
  virtual void Refused(const neptune::Status& why) = 0;
};

class LoadTarget {
 public:
  virtual ~LoadTarget() = default;
  // Begins a request; `request` is its place in the plan. False: it is held back because all
  // connections are in use, and goes out as soon as one is free.
  virtual bool Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) = 0;
  // The request has timed out; its answer is no longer needed.
  virtual void Abandon(uint32_t request) = 0;
};

}  // namespace search::tools
