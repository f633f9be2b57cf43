// What all peer programs have in common: how they are asked, what they count, what they print.
//
//   PROGRAM serve [OPTIONS]   prints "port N", serves until its standard input ends
//   PROGRAM load  [OPTIONS]   asks a server: warms up, prints "begin", counts for a while, prints
//                             "end count=N p10_ns=N p50_ns=N p99_ns=N lost=N" and ends
//
// Closed loop: `depth` calls in flight on each connection. Open loop (`rate` above zero): calls
// begin at random times of that mean rate whatever the answers do, and latency counts from the time
// a call was due.
//
// Threads: a Meter belongs to the one kernel thread of its load program.
// Units: nanoseconds of the monotonic clock.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/histogram.h"

namespace neptune::peers {

struct LoadOptions {
  uint16_t port = 0;
  int connections = 1;
  int depth = 1;
  int64_t warm_up_ns = 0;
  int64_t steady_ns = 0;
  double rate = 0;
  // The share of calls that go to `slow_method`; their latency is not in the percentiles.
  double slow_share = 0;
  std::string slow_method;
  uint64_t seed = 1;
};

// From the program's flags, which gflags has read.
LoadOptions LoadOptionsFromFlags();
// "serve", "load" or what else stands before the flags; removes it.
std::string ConsumeCommand(int* argc, char** argv);

int64_t NowNs();
// Keeps the kernel thread until `time_ns`, to the precision of the system's timers.
void WaitUntil(int64_t time_ns);
// Uses the processor, or waits without it, as long as a slow handler does.
void BeBusy();
void BeBlocked();

void ReportPort(uint16_t port);
void ServeUntilInputEnds();

class Meter {
 public:
  explicit Meter(const LoadOptions& options);

  // One answer to a call that was due at `due_ns`. False: the steady time is over, and the result
  // printed.
  bool Count(int64_t due_ns, bool slow);
  void CountLost() { ++lost_count_; }
  // Ends the steady time although no answer came.
  bool Tick(int64_t now_ns);

 private:
  const int64_t begin_ns_;
  const int64_t end_ns_;
  bool began_ = false;
  bool ended_ = false;
  uint64_t count_ = 0;
  uint64_t lost_count_ = 0;
  Histogram latency_;
};

// When calls of an open loop are due, and which of them are slow.
class Arrivals {
 public:
  explicit Arrivals(const LoadOptions& options);

  struct Arrival {
    int64_t due_ns;
    bool slow;
  };
  const Arrival& next() const { return next_; }
  void Advance();

 private:
  double Uniform();

  const double mean_gap_ns_;
  const double slow_share_;
  uint64_t state_;
  Arrival next_;
};

}  // namespace neptune::peers
