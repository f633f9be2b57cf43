// One run of BBS with real cache servers, one of which hangs: two Redis processes and the
// interposed forum of bbs_service_main.cc, whose client offers the load.
//
// Source: [Chu05] VI.E.
// Threads: the calling kernel thread blocks; one run at a time per machine.
// Units: seconds since the load began.
// Errors: kNotFound redis-server is not installed; kUnavailable a process ended, or its output is
//   not the expected one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "tools/lab/capsules/dependency_run.h"

namespace search::lab {

struct BbsProcessesOptions {
  uint64_t seed = 1;
  DependencyScheme scheme;
  double length_s = kDependencyRunS;
  // The second cache is stopped (SIGSTOP) from `begin_s` to `end_s`.
  struct Hang {
    double begin_s = 0;
    double end_s = 0;
  };
  std::optional<Hang> hang{};
};

neptune::StatusOr<DependencyResult> RunBbsProcesses(const BbsProcessesOptions& options);

}  // namespace search::lab
