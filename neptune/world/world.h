// The world a node lives in: its loops, processors, storage and clock.
//
// One World is one host. The real world (world/real) is kernel threads, Boost.Asio and RocksDB; the
// simulated world (world/sim) is virtual time in one kernel thread with a modelled network and
// processors and a fault plan. All runtime logic is written against this interface and nothing
// else, so the code that serves queries is the code that is simulated.
//
// Source: [Chu03] 5.1 (the papers' simulator was a separate program; this is
// not). Threads: StartLoop, Stop and wall_time from any thread. Units: Execute's cost
// is processor time on a processor of speed 1. Limits: loops a world, kLoopCountMax.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/helper_threads.h"
#include "neptune/world/loop.h"

namespace neptune {

inline constexpr int kLoopCountMax = 256;

class DurableStorage;

enum class LoopPriority {
  kServing,     // connections, short requests, administration
  kBackground,  // long requests: the operating system prefers serving loops
};

struct LoopOptions {
  std::string name;  // shown in thread names and status pages
  LoopPriority priority = LoopPriority::kServing;
};

// The modelled or real processors of the host.
class Processors {
 public:
  virtual ~Processors() = default;
  // Uses `cost` of processor time on behalf of `loop`, then runs `done` on it. In the simulated
  // world the work queues for one of the host's processors and virtual time passes; in the real
  // world the calling kernel thread really spins, then runs `done` inside the call. REQUIRES: on
  // `loop`'s thread.
  virtual void Execute(Loop& loop, Duration cost, Task done) = 0;
  // How many there are, at least 1.
  virtual int count() const = 0;
  // Whether Execute lets time pass that no thread uses, so that a thread's processor time does not show it.
  virtual bool models_time() const { return true; }
};

// How busy the host is: thousandths of all its processors' time, and of the time in which at least one of
// them waited for a disk.
struct HostLoad {
  uint16_t cpu_permille = 0;
  uint16_t io_permille = 0;
};

class World {
 public:
  virtual ~World() = default;

  // Starts an event loop (real: a kernel thread). The world owns it; it runs until Stop.
  virtual StatusOr<Loop*> StartLoop(const LoopOptions& options) = 0;

  // Ends every loop: queued tasks are dropped, threads joined. Idempotent. Not from a loop's
  // thread.
  virtual void Stop() = 0;

  // Kernel threads that may block, at most `count`. Null in the simulated world, which has one kernel thread: what
  // would be shipped to them runs where it is asked for, and takes the time that its model says.
  virtual std::unique_ptr<HelperThreads> MakeHelperThreads(const std::string& name, int count) = 0;

  virtual Processors& processors() = 0;
  virtual DurableStorage& storage() = 0;
  virtual WallTime wall_time() const = 0;

  // The load since the previous call (at the first one: zero). One caller, on one loop.
  virtual HostLoad SampleLoad() = 0;
};

}  // namespace neptune
