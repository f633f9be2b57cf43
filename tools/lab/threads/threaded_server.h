// A threaded_server process and its measurements.
//
// Threads: created, used and destroyed on one plain kernel thread.
// Units: milliseconds for the work of requests, seconds for measuring times.
// Errors: those of PeerProcess, tools/mtrr/profiler.h and http_load.h.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/kit/http_load.h"
#include "tools/mtrr/node_admin.h"
#include "tools/mtrr/service_profile.h"
#include "tools/process/peer_process.h"

namespace search::lab {

struct ThreadedServerOptions {
  double processor_ms = 1;
  double device_ms = 0;
  int device_width = 1;
  int queue_length_max = 128;
  // See KernelWork.
  bool stratified = false;
  uint64_t seed = 1;
};

class ThreadedServer {
 public:
  static neptune::StatusOr<std::unique_ptr<ThreadedServer>> Start(
      const ThreadedServerOptions& options);

  neptune::Status SetThreads(int count);
  // Measures the throughput for each of these numbers of threads, all busy.
  neptune::StatusOr<tools::ServiceProfile> Profile(const std::vector<int>& thread_counts,
                                                   double warm_up_s, double length_s);
  neptune::Endpoint endpoint() const { return {neptune::kLoopbackAddress, port_}; }

 private:
  ThreadedServer(std::unique_ptr<PeerProcess> process, uint16_t port, tools::AdminAccess access)
      : process_(std::move(process)), port_(port), access_(std::move(access)) {}

  const std::unique_ptr<PeerProcess> process_;
  const uint16_t port_;
  const tools::AdminAccess access_;
};

}  // namespace search::lab
