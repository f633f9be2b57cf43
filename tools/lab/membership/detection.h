// How fast, and how rightly, the nodes of a cluster learn that one of them is gone: what member_detect measures.
//
// A scenario runs in both worlds: in the simulated one on SimCluster, in the real one with a process a node
// (member_node_main.cc). Both note what each node knew when, and what became of the calls; the figures are made of
// these notes the same way.
//
// Threads: pure functions; DetectInReal starts processes and waits for them.
// Units: seconds; a period is the announcement interval, one second.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {

inline constexpr int kDetectionServerCount = 16;
inline constexpr int kDetectionCallerCount = 2;
// Every call's deadline.
inline constexpr neptune::Duration kDetectionDeadline = std::chrono::seconds(1);
// Calls of one caller in a second, and what each costs.
inline constexpr int kDetectionRate = 200;
inline constexpr neptune::Duration kDetectionCost = std::chrono::milliseconds(2);
// The server that something happens to.
inline constexpr char kDetectionVictim[] = "s7";

// What a node knew from `at` on, until its next sight.
struct Sight {
  neptune::TimePoint at;
  std::set<std::string> known;    // nodes
  std::set<std::string> offered;  // of these, the ones that calls may go to
};

// A call that failed or was tried twice.
struct HurtCall {
  neptune::TimePoint begin;
  neptune::TimePoint end;
  bool ok = false;
};

struct DetectionNotes {
  // By living node; each in order of time, and not empty.
  std::map<std::string, std::vector<Sight>> sights;
  std::vector<HurtCall> hurt;
  uint64_t call_count = 0;
  // Nodes that some node forgot or excluded.
  uint64_t expelled_count = 0;
  neptune::TimePoint event;
};

// Random where something happens to the victim: callers that poll would leave it alone at once, and show nothing.
std::string DetectionBalancing(const std::string& scenario);

// Metrics that hold for every scenario: known_by_none_s and offered_by_none_s (from the event until the last node
// knew or offered the victim no more, -1 if some does to the end), views_equal_s (until all nodes knew the same),
// callers_s (until the last hurt call that began before or with the event's effects ended), calls, failed_calls,
// expelled.
Measurement FiguresOf(const DetectionNotes& notes);

// The scenarios: "kill", "leave", "hang" (workers), "pause" (the whole process), "cut" (half of the nodes, healed;
// simulated only), "loss" (of 30 % of all datagrams; simulated only), "saturation" (of all processors; real only).
neptune::StatusOr<DetectionNotes> DetectInSim(const std::string& scenario,
                                              const RunContext& context);
neptune::StatusOr<DetectionNotes> DetectInReal(const std::string& scenario,
                                               const RunContext& context);

}  // namespace search::lab
