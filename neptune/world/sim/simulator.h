// The simulated world: many hosts in one kernel thread, in virtual time, replayed by a seed.
//
//   Simulator simulator(seed);
//   World& world = simulator.AddHost({.name = "a", .boot = StartNode});
//   simulator.RunFor(std::chrono::seconds(10));
//
// Virtual time passes only through timers, the network model and Processors::Execute; tasks
// themselves take none. Events of equal time run in the order in which they were planned. With the
// same seed, hosts and faults a run has the same trace hash, which covers every delivered message,
// timer, executed task and piece of work with its time and host.
//
// Source: [Chu03] 5.1 (the papers' simulator).
// Threads: one. Only Loop::Post may be called from others, and a run that does cannot be replayed.
// Units: TimePoint counts virtual nanoseconds from 0.
// Limits: kHostCountMax hosts.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/sim/link_model.h"
#include "neptune/world/sim/network_model.h"
#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/sim/sim_world.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr int kHostCountMax = 65'000;

struct SimOptions {
  // Delays. Default: the papers' cluster with jitter; experiments that quote a paper use
  // kPaperCluster.
  NetworkProfile network = kVariedCluster;
  // What wall_time() shows at the start. Default: 2020-01-01, an arbitrary fixed day.
  int64_t wall_time_start_ns = 1'577'836'800'000'000'000;
};

class Simulator {
 public:
  explicit Simulator(uint64_t seed, const SimOptions& options = SimOptions());
  // Every host crashes; programs are destroyed in the order in which their hosts were added.
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Adds a running host and plans its boot function. Its world lives as long as the simulator.
  SimWorld& AddHost(HostOptions options);
  // REQUIRES: there is a host of that name; the same holds for every name below.
  SimWorld& host(const std::string& name);
  std::vector<std::string> host_names() const;

  // Runs everything due by `end`; afterwards now() is `end`.
  void RunUntil(TimePoint end);
  void RunFor(Duration duration) { RunUntil(AddSaturated(now(), duration)); }
  // Runs until nothing is left to happen; false if that is not so by `limit`, which is then now().
  bool RunUntilIdle(TimePoint limit);
  // Runs until `done` holds, asked after each event; false if it does not by `limit`.
  bool RunUntilTrue(const std::function<bool()>& done, TimePoint limit);
  // Runs one event, if there is one.
  bool Step() { return StepBefore(kNever); }
  // Adds an invariant: called after every event, it fails the test or the process by itself.
  void CheckAlways(std::function<void()> check) { checks_.push_back(std::move(check)); }

  TimePoint now() const { return kernel_.now(); }
  uint64_t seed() const { return kernel_.seed(); }
  uint64_t trace_hash() const { return kernel_.trace_hash(); }
  uint64_t event_count() const { return kernel_.event_count(); }
  // For workload models and fault plans; seeded.
  RandomSource& random() { return script_random_; }

  // Plans a step of the script: it runs outside every host.
  void At(TimePoint when, Task task) {
    kernel_.At(when, EventKind::kModel, nullptr, std::move(task));
  }

  // Faults. To be called between runs or from At, not from code of the host concerned.
  void Crash(const std::string& name, CrashKind kind = CrashKind::kMachine);
  void Restart(const std::string& name) { host(name).Restart(); }
  void Pause(const std::string& name) { host(name).Pause(); }
  void Resume(const std::string& name) { host(name).Resume(); }
  // Divides the speed of the host's processors by `factor`.
  void SlowProcessors(const std::string& name, double factor);
  // The host's wall clock is this much ahead of the simulation's from now on; it may jump back.
  void SetClockOffset(const std::string& name, Duration offset) {
    host(name).set_clock_offset(offset);
  }
  // Nothing passes between the two sets of hosts until the cut heals; with `both_ways` false only
  // what goes from `from` to `to` is stopped.
  LinkModel::CutId Partition(const std::set<std::string>& from, const std::set<std::string>& to,
                             bool both_ways = true);
  // Each datagram from the one set to the other is lost, and each stream's segment sent again, with this
  // probability until the cut heals.
  LinkModel::CutId LoseOneWay(const std::set<std::string>& from, const std::set<std::string>& to,
                              double probability);
  void Heal(LinkModel::CutId cut);
  void HealAll();
  // All links between different hosts, but for those set one by one.
  void SetLinks(const LinkConditions& conditions) { network_.links().SetConditions(conditions); }
  const LinkConditions& links() { return network_.links().conditions(); }
  // Adds to each datagram to a host what `extra` says at the time it is sent: a busy host reads it late. For
  // workload models that were measured; draw from random().
  void DelayDatagrams(std::function<Duration(const std::string& host)> extra);
  void SetLink(const std::string& from, const std::string& to, const LinkConditions& conditions);
  // Plants a bug in all messages.
  void TamperWith(Tamper tamper) { network_.links().set_tamper(std::move(tamper)); }

 private:
  bool StepBefore(TimePoint limit);
  std::set<int> Indices(const std::set<std::string>& names);

  SimKernel kernel_;
  NetworkModel network_;
  RandomSource script_random_;
  const int64_t wall_time_start_ns_;
  std::vector<std::unique_ptr<SimWorld>> hosts_;
  std::map<std::string, int> host_of_name_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace neptune
