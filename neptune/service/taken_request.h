// A request that a service host serves, and how its execution ended.
//
// Threads: belongs to one owner at a time: the queue, or the thread that serves it.

#pragma once

#include <memory>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/service_class.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

class PartitionBatch;
struct ServedMethod;

// A request that is being served, wherever it is kept.
struct ServedRequest {
  IncomingRequest& request;
  const ServedMethod& method;
  ClassNumber service_class = 0;
  // Partitions that the method runs for; null: that of the request.
  std::shared_ptr<PartitionBatch> batch = nullptr;
};

// A request that a service host has taken, to serve it later or to refuse it.
struct TakenRequest {
  IncomingRequest request;
  // Null: the method is unknown, and the request is about to be refused.
  const ServedMethod* method = nullptr;
  ClassNumber service_class = 0;
  std::shared_ptr<PartitionBatch> batch = nullptr;

  // REQUIRES: the method is known.
  ServedRequest AsServed() { return {request, *method, service_class, batch}; }
};

struct RequestRun {
  TimePoint begin;
  TimePoint end;
  Duration processor{0};
  Status status;

  Duration ran() const { return end - begin; }
};

}  // namespace neptune
