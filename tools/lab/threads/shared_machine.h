// A simulated machine on which two services share what the thread model does not name: a disk and the memory that
// spares it.
//
//   request: processor ─► pages: in the cache? else the disk, one at a time ─► elsewhere (a client, another machine)
//                              └── shared, least recently used goes ──┘         ─► processor ─► done, the next one
//
// Its threads never rest, so that throughput over threads is what is measured.
//
// Source: [Jamjoom04] V (direct and indirect interdependencies); what the machine is made of is ours.
// Threads: pure function; several may run in several threads.
// Units: milliseconds of virtual time; pages.
// Errors: kInvalidArgument no threads at all.

#pragma once

#include <vector>

#include "neptune/base/status.h"

namespace search::lab {

// What a request of one kind needs. Times are means of exponential ones.
struct RequestKind {
  double processor_ms = 1;
  // Pages that it reads, of a few that are wanted often and many that are not.
  int read_count = 0;
  int often_read_page_count = 1;
  double often_share = 0;
  int seldom_read_page_count = 1;
  // Pages that it writes anew into the cache.
  int written_count = 0;
  // Time for which it needs nothing of this machine.
  double elsewhere_ms = 0;
  // Where pages of the kind begin, so that kinds do not share them.
  int first_page = 0;
};

// A service: threads that serve requests of these kinds, drawn evenly.
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

// Requests a second of each service.
neptune::StatusOr<std::vector<double>> RunSharedMachine(const std::vector<MachineService>& services,
                                                        const MachineOptions& options,
                                                        uint64_t seed);

}  // namespace search::lab
