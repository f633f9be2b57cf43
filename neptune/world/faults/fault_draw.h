// Schedules of faults drawn from a seed.
//
// Source: [Groce12] (DrawSwarm: each run has only some of the kinds, so that one does not hide the
//   others).
// Threads: pure functions of their options and the random numbers.
// Limits: every fault ends by the end of the schedule.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/faults/fault.h"
#include "neptune/world/faults/fault_target.h"
#include "neptune/world/random_source.h"

namespace neptune {

struct RandomFaultOptions {
  // Hosts that may fail. REQUIRES: not empty.
  std::vector<std::string> hosts;
  TimePoint begin{};
  TimePoint horizon = TimePoint(std::chrono::seconds(60));
  // Mean time between the beginnings of two faults (exponential). Smaller: more faults at once.
  Duration interval_mean = std::chrono::seconds(5);
  // Mean duration of a fault (exponential, cut off at the horizon).
  Duration duration_mean = std::chrono::seconds(3);
  // Kinds that are drawn; one that is listed twice is drawn twice as often. Default: all that are
  // meaningful for every simulated program.
  std::vector<Fault::Kind> kinds = {Fault::Kind::kCrash,
                                    Fault::Kind::kPause,
                                    Fault::Kind::kCut,
                                    Fault::Kind::kCutOneWay,
                                    Fault::Kind::kLossOneWay,
                                    Fault::Kind::kSlowProcessors,
                                    Fault::Kind::kClockOffset,
                                    Fault::Kind::kLatency,
                                    Fault::Kind::kDatagramLoss,
                                    Fault::Kind::kDatagramDuplication,
                                    Fault::Kind::kDatagramReordering,
                                    Fault::Kind::kStreamLoss};
  // Maximum number of hosts with an exclusive fault at once. Default: 1, so that a replicated
  // service can continue.
  int hosts_down_max = 1;
  double slowdown_max = 10;
  // Maximum probability of every kind of loss, duplication and reordering.
  double probability_max = 0.3;
  // Maximum offset, ahead or back.
  Duration clock_offset_max = std::chrono::hours(1);
  // Range of the delay of each flush. Default: a busy disk to one that hardly works.
  Duration flush_delay_min = std::chrono::milliseconds(20);
  Duration flush_delay_max = std::chrono::milliseconds(800);
};

// Draws faults that end by the horizon, ordered by their beginnings. The same random numbers give
// the same faults.
FaultSchedule DrawFaults(RandomSource& random, const RandomFaultOptions& options);

// The kinds that a replicated service must survive, as far as the target supports them, each as
// often as it should be drawn: one list for the simulator and for real processes.
std::vector<Fault::Kind> NemesisKinds(const FaultTarget& target);

// A kind that only some hosts can have.
struct HostFaultKind {
  Fault::Kind kind;
  std::vector<std::string> hosts;
};

struct SwarmOptions {
  std::vector<std::string> hosts;
  // About half of these are drawn in a run.
  std::vector<Fault::Kind> kinds = RandomFaultOptions().kinds;
  // Each of these is drawn in about half of all runs, at times of its own.
  std::vector<HostFaultKind> host_kinds;
  TimePoint begin;
  TimePoint end;
  // Time that a host has after an exclusive fault before the next one begins.
  Duration recovery_min = std::chrono::seconds(1);
};

// Every seed has kinds, a density and durations of its own: quiet runs show what a single fault
// does, wild ones what many do together.
FaultSchedule DrawSwarm(RandomSource& random, const SwarmOptions& options);

}  // namespace neptune
