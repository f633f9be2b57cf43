// A threaded_server as a process of its own, and what is measured of it.
//
// Threads: made, used and destroyed on one plain kernel thread.
// Units: milliseconds for what requests take, seconds for how long is measured.
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
  // Throughput with each of these numbers of threads, all of them busy.
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
