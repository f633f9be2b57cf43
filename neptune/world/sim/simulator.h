// The simulated world: many hosts in one kernel thread, in virtual time, replayed by a seed.
//
//   Simulator simulator(seed);
//   World& world = simulator.AddHost({.name = "a", .boot = StartNode});
//   simulator.RunFor(std::chrono::seconds(10));
//
// Virtual time passes only through timers, the network model and Processors::Execute; tasks
// themselves take none. Events of equal time run in the order in which they were scheduled. With
// the same seed, hosts and faults a run has the same trace hash, which covers every delivered
// message, timer, executed task and piece of work with its time and host.
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
  // Link delays. Default: the papers' cluster with jitter; experiments that quote a paper use
  // kPaperCluster.
  NetworkProfile network = kVariedCluster;
  // Value of wall_time() at the start. Default: 2020-01-01, an arbitrary fixed day.
  int64_t wall_time_start_ns = 1'577'836'800'000'000'000;
};

class Simulator {
 public:
  explicit Simulator(uint64_t seed, const SimOptions& options = SimOptions());
  // Crashes every host; programs are destroyed in the order in which their hosts were added.
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Adds a running host and schedules its boot function. Its world lives as long as the simulator.
  SimWorld& AddHost(HostOptions options);
  // REQUIRES: a host of that name exists. This applies to every name below.
  SimWorld& host(const std::string& name);
  std::vector<std::string> host_names() const;

  // Runs every event due by `end`; afterwards now() is `end`.
  void RunUntil(TimePoint end);
  void RunFor(Duration duration) { RunUntil(AddSaturated(now(), duration)); }
  // Runs until no event is pending; returns false, with now() at `limit`, if events are left then.
  bool RunUntilIdle(TimePoint limit);
  // Runs until `done`, evaluated after each event, is true; returns false if it is not by `limit`.
  bool RunUntilTrue(const std::function<bool()>& done, TimePoint limit);
  // Runs one event if there is one.
  bool Step() { return StepBefore(kNever); }
  // Adds an invariant that is called after every event; a violated one must fail the test or the
  // process itself.
  void CheckAlways(std::function<void()> check) { checks_.push_back(std::move(check)); }

  TimePoint now() const { return kernel_.now(); }
  uint64_t seed() const { return kernel_.seed(); }
  uint64_t trace_hash() const { return kernel_.trace_hash(); }
  uint64_t event_count() const { return kernel_.event_count(); }
  // For workload models and fault schedules; seeded.
  RandomSource& random() { return script_random_; }

  // Schedules a step of the script: it runs outside every host.
  void At(TimePoint when, Task task) {
    kernel_.At(when, EventKind::kModel, nullptr, std::move(task));
  }

  // The following are faults. Call them between runs or from At, not from code of the affected
  // host.
  void Crash(const std::string& name, CrashKind kind = CrashKind::kMachine);
  void Restart(const std::string& name) { host(name).Restart(); }
  void Pause(const std::string& name) { host(name).Pause(); }
  void Resume(const std::string& name) { host(name).Resume(); }
  // Divides the speed of the host's processors by `factor`.
  void SlowProcessors(const std::string& name, double factor);
  // Sets how far the host's wall clock is ahead of the simulation's; it may jump back.
  void SetClockOffset(const std::string& name, Duration offset) {
    host(name).set_clock_offset(offset);
  }
  // Blocks everything between the two sets of hosts until the cut heals; with `both_ways` false
  // only the direction from `from` to `to`.
  LinkModel::CutId Partition(const std::set<std::string>& from, const std::set<std::string>& to,
                             bool both_ways = true);
  // Until the cut heals, each datagram from one set to the other is lost, and each stream segment
  // is sent again, with this probability.
  LinkModel::CutId LoseOneWay(const std::set<std::string>& from, const std::set<std::string>& to,
                              double probability);
  void Heal(LinkModel::CutId cut);
  void HealAll();
  // Sets the conditions of all links between different hosts, except those set individually.
  void SetLinks(const LinkConditions& conditions) { network_.links().SetConditions(conditions); }
  const LinkConditions& links() { return network_.links().conditions(); }
  const LinkCounts& link_counts() { return network_.links().counts(); }
  // Adds extra(host), evaluated at the time of sending, to the delay of each datagram to a host: a
  // busy host reads it late. For measured workload models; draw from random().
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
