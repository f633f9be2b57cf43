// A module whose methods do what tests of calls need, and what each simulated host has seen of them.
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
  int told_to_stop = 0;                          // saw ShouldStop
  int messages = 0;                              // read by Hold, written by Pour
  StatusCode stream_end = StatusCode::kUnknown;  // what Pour or Hold last met
  int writes = 0;
  int module_stops = 0;
  int running_at_module_stop = 0;
  // What the test asks for:
  bool refuses = false;  // Name and Write answer kUnavailable
  Status health;
  bool health_throws = false;
  bool naps = false;  // NapSum takes an hour
};

// By name of the host.
using HostRecords = std::map<std::string, HostRecord>;

// Besides the methods of the echo module, which it contains:
//   Name     short  the host's name
//   Sleep    long   sleeps as many milliseconds as the request says, then the host's name
//   Doze     short  as Sleep
//   Wait     long   until it should stop
//   Write    short  a write: counts, and answers after 100 ms
//   Throw    short  throws
//   Relay    short  calls Wait of its own service on behalf of its request
//   RelayNap long   calls Nap of partition 1 on behalf of its request
//   RelaySum long   aggregates NapSum over partitions 1 and 2 on behalf of its request
//   Nap      long   sleeps for an hour, or until nobody waits for its answer
//   LateSum  short  as Sum, after 300 ms on host s0
//   RefusedSum  long  refuses on host s0, elsewhere naps an hour, or until nobody waits
//   PartSum  long   as Sum, but on host s0 works until it should stop and then answers, on s1 has nothing by then
// the streams
//   Hold     short  reads nothing for as many milliseconds as the request says, then all
//   Pour     long   writes messages of as many bytes as the request says until it may not
//   Refuse   short  reads one message and fails
// and the reduce operators FailingReduce and ThrowingReduce.
ModuleFactory CallTestModules(HostRecords* records);

}  // namespace neptune
