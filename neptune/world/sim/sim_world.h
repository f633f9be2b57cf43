// A simulated host, as seen by the node program and by faults.
//
// Threads: the simulation's thread.
// Limits: kLoopCountMax loops between two restarts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/world/sim/network_model.h"
#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/sim/sim_loop.h"
#include "neptune/world/sim/sim_processors.h"
#include "neptune/world/sim/sim_storage.h"
#include "neptune/world/world.h"

namespace neptune {

// Starts the node's program on its world and returns it. The program is destroyed when the host
// crashes; by then its world is silent (what its destructor sends or posts has no effect).
using BootFunction = std::function<std::shared_ptr<void>(World&)>;

struct HostOptions {
  // Unique in the simulation; names the host in faults.
  std::string name{};
  // IPv4 address, host byte order, unique, not loopback. Default: 10.0.0.0 + the host's 1-based
  // number.
  uint32_t address = 0;
  ProcessorOptions processors{};
  // Run as an event when the host is added and at every restart. Default: none; the test drives the
  // loops.
  BootFunction boot{};
};

// Observable effects of a crash.
enum class CrashKind {
  // Power failure: storage loses what was not synced, before the program's destructors could write
  // more. Peers are reset when they next send or wait for an answer.
  kMachine,
  // Killed process: its operating system resets every peer at once and keeps all writes.
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
  // Load from finished pieces of work only; the modelled host has no disk load.
  HostLoad SampleLoad() override;

  const std::string& name() const { return options_.name; }
  uint32_t address() const { return options_.address; }
  HostState& state() { return state_; }
  SimProcessors& sim_processors() { return processors_; }
  // The host's disk: survives crashes and restarts.
  SimStorage& sim_storage() { return storage_; }
  bool running() const { return running_; }
  bool paused() const { return state_.paused; }
  // The result of the boot function, or null.
  const std::shared_ptr<void>& program() const { return program_; }

  // Schedules the boot function for now. REQUIRES: running.
  void Boot();
  // All loops and sockets vanish, storage loses what the kind of crash loses, and the program is
  // destroyed.
  void Crash(CrashKind kind);
  // Boots again; a running host crashes first.
  void Restart();
  // Sets how far wall_time() is ahead of the simulation's; survives crashes.
  void set_clock_offset(Duration offset) { clock_offset_ = offset; }
  // Like SIGSTOP: nothing runs, and incoming events wait (datagrams within bounds).
  void Pause();
  void Resume();
  // Makes a loop hang, or ends that: the one of this name, or the first one started if there is
  // none of it. A loop that hangs does so until that ends or the host crashes.
  void SetLoopHanging(std::string_view loop, bool hangs);
  // The number of events that wait for that loop, which hangs.
  size_t WaitingAt(std::string_view loop) const;

 private:
  void Silence(bool tell_peers);
  // Null: no loop runs.
  SimLoop* FindLoop(std::string_view name) const;

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
  // Loops of earlier lives are kept, so that a pointer to one stays valid; posts to it are dropped.
  std::vector<std::unique_ptr<SimLoop>> loops_;
  int live_loop_count_ = 0;
  uint64_t life_ = 1;
  bool running_ = true;
  std::shared_ptr<void> program_;
};

}  // namespace neptune
