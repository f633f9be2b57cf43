// Faults that the stores and the log files of a simulated host's disk share, and how often each has
// taken effect.
//
//   DelayFlushes         each sync takes longer; the owner of the clock asks for the time
//   FailReadsAtRandom    some reads fail
//   FailOpens            no store or file can be opened
//   CrashInNextFlush     the next sync does not end: the machine loses power
//
// No I/O, no clock: time is returned, and a crash is the caller's.
// Threads: thread-compatible; all loops of the simulated world share one kernel thread.
// Errors: the Before... functions return the fault as an error: kUnavailable, or the status passed
//   to FailOpens.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace neptune {

class SimDiskFaults {
 public:
  // How often faults have taken effect since the host was made.
  struct Counts {
    uint64_t delayed_flushes = 0;
    uint64_t failed_reads = 0;
    uint64_t refused_opens = 0;
    uint64_t refused_writes = 0;
    uint64_t torn_flushes = 0;  // that a crash ended
  };

  // Each flush takes this much longer; zero: no longer.
  void DelayFlushes(Duration delay) { flush_delay_ = delay; }
  // Each read fails with this probability, drawn from the seed; 0: none.
  void FailReadsAtRandom(double probability, uint64_t seed);
  // Every opening fails with `status` until this is called with OK.
  void FailOpens(Status status) { open_ = std::move(status); }
  // At the next flush `on_flush` is called, which must make the host crash soon, and not from
  // inside the call. That flush and all calls after it fail until the host has crashed. Null: no
  // crash.
  void CrashInNextFlush(std::function<void()> on_flush) { on_flush_ = std::move(on_flush); }
  // The host has crashed, or its process has ended.
  void NoteCrash();

  // The delay of the flushes since the last call.
  Duration TakeFlushTime();
  const Counts& counts() const { return counts_; }

  // Called by stores and files before they do it. What they are is for the error: "store ", "x".
  Status BeforeRead(std::string_view kind, std::string_view name);
  Status BeforeOpen(std::string_view kind, std::string_view name);
  Status BeforeFlush(std::string_view kind, std::string_view name);
  // OK unless the machine is losing its power.
  Status BeforeWrite(std::string_view kind, std::string_view name);
  void NoteRefusedWrite() { ++counts_.refused_writes; }

 private:
  Duration flush_delay_{0};
  Duration flush_time_{0};
  double read_error_probability_ = 0;
  RandomSource random_{1};
  Status open_;
  std::function<void()> on_flush_;
  bool is_losing_power_ = false;
  Counts counts_;
};

}  // namespace neptune
