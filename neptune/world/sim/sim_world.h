// A simulated host as the node program sees it, and as the fault plan treats it.
//
// Departs from source: none.
// Threads: the simulation's thread.
// Limits: kLoopCountMax loops between two restarts.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/world/sim/network_model.h"
#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/sim/sim_loop.h"
#include "neptune/world/sim/sim_processors.h"
#include "neptune/world/sim/sim_storage.h"
#include "neptune/world/world.h"

namespace neptune {

// Starts the node's program on its world and returns it: it is destroyed when the host crashes, at
// which time its world is already silent (what it sends or posts in its destructor goes nowhere).
using BootFunction = std::function<std::shared_ptr<void>(World&)>;

struct HostOptions {
  // Unique in the simulation; names the host in faults.
  std::string name{};
  // IPv4 address, host byte order, unique, not loopback. Default: 10.0.0.0 + the host's 1-based
  // number.
  uint32_t address = 0;
  ProcessorOptions processors{};
  // Run when the host is added and at every restart, as an event. Default: none, the test drives
  // loops.
  BootFunction boot{};
};

// What a crash looks like from outside.
enum class CrashKind {
  // The power failed: storage loses what was not synced, before the program's destructors could
  // write more. Peers are reset when they next send or wait for an answer.
  kMachine,
  // The process was killed: its operating system resets every peer at once and keeps all writes.
  kProcess,
};

class SimWorld : public World {
 public:
  SimWorld(SimKernel& kernel, NetworkModel& network, int index, const HostOptions& options,
           int64_t wall_time_start_ns);

  StatusOr<Loop*> StartLoop(const LoopOptions& options) override;
  void Stop() override;
  std::unique_ptr<HelperThreads> MakeHelperThreads(const std::string&, int) override {
    return nullptr;
  }
  Processors& processors() override { return processors_; }
  DurableStorage& storage() override { return storage_; }
  WallTime wall_time() const override;
  // Of finished pieces of work; the modelled host has no disk load.
  HostLoad SampleLoad() override;

  const std::string& name() const { return options_.name; }
  uint32_t address() const { return options_.address; }
  HostState& state() { return state_; }
  SimProcessors& sim_processors() { return processors_; }
  // The host's disk: survives crashes and restarts.
  SimStorage& sim_storage() { return storage_; }
  bool running() const { return running_; }
  bool paused() const { return state_.paused; }
  // What the boot function returned, or null.
  const std::shared_ptr<void>& program() const { return program_; }

  // Plans the boot function for now. REQUIRES: running.
  void Boot();
  // All loops and sockets vanish, storage loses what the kind of crash loses, the program is
  // destroyed.
  void Crash(CrashKind kind);
  // Boots anew; a running host crashes first.
  void Restart();
  // What wall_time() is ahead of the simulation's; outlives crashes.
  void set_clock_offset(Duration offset) { clock_offset_ = offset; }
  // As SIGSTOP: nothing runs, what arrives waits (datagrams within bounds).
  void Pause();
  void Resume();

 private:
  void Silence(bool tell_peers);

  SimKernel& kernel_;
  NetworkModel& network_;
  const HostOptions options_;
  const int64_t wall_time_start_ns_;
  Duration clock_offset_{0};
  TimePoint load_sampled_at_;
  Duration load_sampled_{0};
  HostState state_;
  SimProcessors processors_;
  SimStorage storage_;
  // Loops of earlier lives stay, so that whoever still holds one posts into nothing.
  std::vector<std::unique_ptr<SimLoop>> loops_;
  int live_loop_count_ = 0;
  uint64_t life_ = 1;
  bool running_ = true;
  std::shared_ptr<void> program_;
};

}  // namespace neptune
