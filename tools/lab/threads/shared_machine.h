// A simulated machine on which two services share resources that the thread model does not include:
// a disk and its cache.
//
//   request: processor ─► pages, one at a time: cache or disk ─► elsewhere, e.g. a client
//                                               shared, LRU      ─► processor ─► done, next request
//
// Its threads are always busy: throughput is measured as a function of their number.
//
// Source: [Jamjoom04] V (direct and indirect interdependencies); the parts of the machine are ours.
// Threads: pure function; several may run in several threads.
// Units: milliseconds of virtual time; pages.
// Errors: kInvalidArgument there are no threads.

#pragma once

#include <vector>

#include "neptune/base/status.h"

namespace search::lab {

// The needs of a request of one kind. Times are means of exponential times.
struct RequestKind {
  double processor_ms = 1;
  // Pages that it reads, from a few popular and many unpopular ones.
  int read_count = 0;
  int often_read_page_count = 1;
  double often_share = 0;
  int seldom_read_page_count = 1;
  // New pages that it writes into the cache.
  int written_count = 0;
  // Time that it spends elsewhere, without resources of this machine.
  double elsewhere_ms = 0;
  // The first page number of the kind; ranges of kinds must not overlap.
  int first_page = 0;
};

// A service: threads that serve requests of these kinds with equal probability.
struct MachineService {
  int thread_count = 0;
  std::vector<RequestKind> kinds;
};

struct MachineOptions {
  double quantum_ms = 10;
  double disk_page_ms = 4;
  int cache_page_count = 1000;
  double warm_up_s = 20;
  double length_s = 60;
};

// Returns the requests a second of each service.
neptune::StatusOr<std::vector<double>> RunSharedMachine(const std::vector<MachineService>& services,
                                                        const MachineOptions& options,
                                                        uint64_t seed);

}  // namespace search::lab
