// A plan of faults for a simulation: scripted, or drawn from a seed.
//
//   ScheduleFaults(simulator, {{At(2s), Fault::Crash("b")}, {At(5s), Fault::Restart("b")}});
//
// Threads: the simulation's thread.
// Units: virtual time.
// Limits: a drawn plan ends every fault it begins before its horizon.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

struct Fault {
  enum class Kind {
    kCrash,  // amount 0: CrashKind::kMachine, 1: kProcess
    kRestart,
    kPause,
    kResume,
    kCut,             // between hosts and others, both ways
    kCutOneWay,       // from hosts to others
    kLossOneWay,      // from hosts to others; amount: probability
    kHeal,            // ends the cut or loss between the same hosts and others
    kSlowProcessors,  // amount: how many times slower; 1 ends it
    kClockOffset,     // amount: seconds that the wall clock is ahead; 0 ends it
    kLatency,         // amount: how many times slower all links; 1 ends it
    kDatagramLoss,    // amount: probability on all links; 0 ends it, as for the next three
    kDatagramDuplication,
    kDatagramReordering,
    kStreamLoss,
  };
  Kind kind = Kind::kCrash;
  std::set<std::string> hosts;
  std::set<std::string> others;
  double amount = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
  std::string ToString() const;
};

struct PlannedFault {
  TimePoint at;
  Fault fault;

  friend bool operator==(const PlannedFault&, const PlannedFault&) = default;
};

using FaultPlan = std::vector<PlannedFault>;

// A fault that lasts from `begin` to `end`.
struct FaultSpan {
  TimePoint begin;
  TimePoint end;
  Fault fault;

  friend bool operator==(const FaultSpan&, const FaultSpan&) = default;
  std::string ToString() const;
};

// Returns the beginnings and ends of all spans, ordered by time.
FaultPlan PlanOf(const std::vector<FaultSpan>& spans);

// Schedules every fault of the plan at its time. REQUIRES: the hosts named exist by then.
void ScheduleFaults(Simulator& simulator, const FaultPlan& plan);

struct RandomFaultOptions {
  // Hosts that may fail. REQUIRES: not empty.
  std::vector<std::string> hosts;
  TimePoint begin{};
  TimePoint horizon = TimePoint(std::chrono::seconds(60));
  // Mean time between the beginnings of two faults (exponential). Smaller: more faults at once.
  Duration interval_mean = std::chrono::seconds(5);
  // Mean duration of a fault (exponential, cut off at the horizon).
  Duration duration_mean = std::chrono::seconds(3);
  // Kinds of faults that may begin; the ends follow. Default: all of them.
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
  // Maximum number of hosts crashed or paused at once. Default: 1, so that a replicated service can
  // continue.
  int hosts_down_max = 1;
  double slowdown_max = 10;
  // Maximum probability of every kind of loss, duplication and reordering.
  double probability_max = 0.3;
  // Maximum offset, ahead or back.
  Duration clock_offset_max = std::chrono::hours(1);
};

// Draws faults that end by the horizon, ordered by their beginnings. The same random numbers give
// the same faults.
std::vector<FaultSpan> DrawFaults(RandomSource& random, const RandomFaultOptions& options);
// Draws the same faults as a plan.
FaultPlan DrawFaultPlan(RandomSource& random, const RandomFaultOptions& options);

}  // namespace neptune
