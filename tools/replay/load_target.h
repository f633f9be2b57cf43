// Target of requests: one interface, a variant for each protocol.
//
// Threads: the loop that the target was created on.
// Errors: a failed request is an Outcome, not a Status.

#pragma once

#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "tools/replay/measurement.h"
#include "tools/replay/replay_plan.h"

namespace search::tools {

// Receives the outcome of requests.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // The request was handed to the operating system, or its connect started. Called before Done; the
  // last call counts. If a target never calls it, the request counts as sent in Send.
  virtual void Sent(uint32_t request) = 0;
  // Called once for each request that was not abandoned, never inside Send.
  virtual void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) = 0;
  // A connection could not be established; `why` is the reason.
  virtual void Refused(const neptune::Status& why) = 0;
};

class LoadTarget {
 public:
  virtual ~LoadTarget() = default;
  // Starts a request; `request` is its index in the plan. Returns false if it is held back because
  // all connections are in use; it is sent as soon as one is free.
  virtual bool Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) = 0;
  // The request has timed out; its answer is no longer needed.
  virtual void Abandon(uint32_t request) = 0;
};

}  // namespace search::tools
