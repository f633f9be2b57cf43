// The open streams of a service. Each has a user-level thread of its own while it is open, outside
// of the pool, and counts as one request in the load index.
//
// Source: [Shen02] 2.3 (stream-based scheme).
// Threads: any loop.
// Errors: as answers: kResourceExhausted too many streams are open.
// Limits: ServiceHostOptions::stream_count_max.

#pragma once

#include <atomic>

#include "neptune/service/node_loops.h"
#include "neptune/service/request_runner.h"
#include "neptune/service/service_load.h"

namespace neptune {

class OpenStreams {
 public:
  OpenStreams(ServiceName service, size_t count_max, NodeLoops& loops, ServiceLoad& load,
              RequestRunner& runner)
      : service_(std::move(service)),
        count_max_(count_max),
        loops_(loops),
        load_(load),
        runner_(runner) {}

  // A short stream runs on the loop of its connection, a long one on a worker loop.
  void Begin(TakenRequest&& taken);

 private:
  const ServiceName service_;
  const size_t count_max_;
  NodeLoops& loops_;
  ServiceLoad& load_;
  RequestRunner& runner_;
  std::atomic<uint32_t> count_{0};
};

}  // namespace neptune
