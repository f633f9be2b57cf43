// The environment of a node: its loops, processors, storage and clock.
//
// One World is one host. The real world (world/real) consists of kernel threads, epoll and
// RocksDB. The simulated world (world/sim) runs in virtual time in one kernel thread, with a
// modelled network and processors and a fault plan. All runtime logic is written against this
// interface only, so the code that serves queries is the code that is simulated.
//
// Source: [Chu03] 5.1 (the papers' simulator was a separate program; this one is not).
// Threads: StartLoop, Stop and wall_time from any thread.
// Units: Execute's cost is processor time on a processor of speed 1.
// Limits: kLoopCountMax loops a world.

#pragma once

#include <cstddef>
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
  kControl,     // what keeps the cluster together; preferred, where the operating system permits it
  kServing,     // connections, short requests, administration
  kBackground,  // long requests; the operating system prefers serving loops
};

struct LoopOptions {
  std::string name;  // shown as thread name and on status pages
  LoopPriority priority = LoopPriority::kServing;
};

// The real or modelled processors of the host.
class Processors {
 public:
  virtual ~Processors() = default;
  // Uses `cost` of processor time on behalf of `loop`, then runs `done` on it. In the simulated
  // world the work waits for one of the host's processors and virtual time passes; in the real
  // world the calling kernel thread spins, then runs `done` before Execute returns. REQUIRES: on
  // `loop`'s thread.
  virtual void Execute(Loop& loop, Duration cost, Task done) = 0;
  // Number of processors, at least 1.
  virtual int count() const = 0;
  // True if the time passed by Execute is modelled, so that a thread's CPU clock does not include
  // it.
  virtual bool models_time() const { return true; }
};

// Load of the host in thousandths: the share of all processors' time in use, and the share of time
// in which at least one of them waited for a disk.
struct HostLoad {
  uint16_t cpu_permille = 0;
  uint16_t io_permille = 0;
};

// What the host allows its node; read once at the start.
struct HostResources {
  // Memory of the host or, if that is less, of the process's control group.
  uint64_t memory_size = uint64_t{16} << 30;
  // Maximum number of open descriptors.
  size_t descriptor_limit = 65'536;
};

class World {
 public:
  virtual ~World() = default;

  // Starts an event loop (real: a kernel thread). The world owns it; it runs until Stop.
  virtual StatusOr<Loop*> StartLoop(const LoopOptions& options) = 0;

  // Stops every loop: queued tasks are dropped, threads joined. Idempotent. Not from a loop's
  // thread.
  virtual void Stop() = 0;

  // Makes a pool of at most `count` kernel threads that may block. Returns null in the simulated
  // world, which has one kernel thread: there, calls that would be shipped run in place and take
  // the time given by their model.
  virtual std::unique_ptr<HelperThreads> MakeHelperThreads(const std::string& name, int count) = 0;

  virtual Processors& processors() = 0;
  virtual DurableStorage& storage() = 0;
  // Default: those of HostResources, in the simulated world.
  virtual HostResources resources() const { return {}; }
  virtual WallTime wall_time() const = 0;

  // Load since the previous call; zero at the first. One caller, on one loop.
  virtual HostLoad SampleLoad() = 0;
};

}  // namespace neptune
