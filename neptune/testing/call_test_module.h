// A module with methods for tests of calls, and a record of them for each simulated host.
//
// Threads: the simulation's thread.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "neptune/testing/simulated_cluster.h"

namespace neptune {

struct HostRecord {
  int begun = 0;    // methods of any kind that began
  int running = 0;  // inside Sleep and Wait now
  int running_max = 0;
  int stop_count = 0;                            // saw ShouldStop
  int messages = 0;                              // read by Hold, written by Pour
  StatusCode stream_end = StatusCode::kUnknown;  // last status of Pour or Hold
  int writes = 0;
  int module_stops = 0;
  int running_at_module_stop = 0;
  // Set by the test:
  bool refuses = false;  // Name and Write answer kUnavailable
  Status health;
  bool health_throws = false;
  bool naps = false;  // NapSum takes an hour
};

// Records by host name.
using HostRecords = std::map<std::string, HostRecord>;

// Methods in addition to those of the echo module, which it contains:
//   Name     short  returns the host's name
//   Sleep    long   sleeps for the milliseconds in the request, then returns the host's name
//   Doze     short  as Sleep
//   Wait     long   waits until it should stop
//   Write    short  a write: counts, and answers after 100 ms
//   Throw    short  throws
//   Relay    short  calls Wait of its own service on behalf of its request
//   RelayNap long   calls Nap of partition 1 on behalf of its request
//   RelaySum long   aggregates NapSum over partitions 1 and 2 on behalf of its request
//   Nap      long   sleeps for an hour, or until it is cancelled
//   LateSum  short  as Sum, after 300 ms on host s0
//   RefusedSum  long  refuses on host s0, elsewhere naps an hour, or until it is cancelled
//   PartSum  long   as Sum, but on host s0 works until it should stop and then answers; on s1 it
//                   then has no result
// the streams
//   Hold     short  reads nothing for the milliseconds in the request, then everything
//   Pour     long   writes messages of the size in the request until it fails
//   Refuse   short  reads one message and fails
// and the reduce operators FailingReduce and ThrowingReduce.
ModuleFactory CallTestModules(HostRecords* records);

}  // namespace neptune
