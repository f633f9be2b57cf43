// How fast, and how accurately, the nodes of a cluster detect the failure of one of them: the
// measurements of member_detect.
//
// A scenario runs in both worlds: on SimCluster in the simulated one, with one process for each
// node (member_node_main.cc) in the real one. Both record what each node knew at which time and the
// outcome of the calls; the figures are computed from these notes in the same way.
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
// The deadline of every call.
inline constexpr neptune::Duration kDetectionDeadline = std::chrono::seconds(1);
// Calls a second of one caller, and the processor time of each.
inline constexpr int kDetectionRate = 200;
inline constexpr neptune::Duration kDetectionCost = std::chrono::milliseconds(2);
// The server that fails.
inline constexpr char kDetectionVictim[] = "s7";

// The knowledge of a node from `at` until its next sight.
struct Sight {
  neptune::TimePoint at;
  std::set<std::string> known;    // nodes
  std::set<std::string> offered;  // known nodes that may receive calls
};

// A call that failed or was retried.
struct HurtCall {
  neptune::TimePoint begin;
  neptune::TimePoint end;
  bool ok = false;
};

struct DetectionNotes {
  // Sights by live node; each list is in order of time and not empty.
  std::map<std::string, std::vector<Sight>> sights;
  std::vector<HurtCall> hurt;
  uint64_t call_count = 0;
  // The number of nodes that any node forgot or excluded.
  uint64_t expelled_count = 0;
  neptune::TimePoint event;
};

// The balancing policy of a scenario: random if the victim fails, because polling callers would
// avoid it at once and show no effect.
std::string DetectionBalancing(const std::string& scenario);

// Metrics of every scenario: known_by_none_s and offered_by_none_s (time from the event until no
// node knew or offered the victim any more; -1 if one did to the end), views_equal_s (until all
// nodes knew the same), callers_s (until the end of the last hurt call that began before or with
// the event's effects), calls, failed_calls, expelled.
Measurement FiguresOf(const DetectionNotes& notes);

// The scenarios: "kill", "leave", "hang" (workers), "pause" (the whole process), "cut" (half of the
// nodes, healed later; simulated only), "loss" (30 % of all datagrams; simulated only),
// "saturation" (all processors; real only).
neptune::StatusOr<DetectionNotes> DetectInSim(const std::string& scenario,
                                              const RunContext& context);
neptune::StatusOr<DetectionNotes> DetectInReal(const std::string& scenario,
                                               const RunContext& context);

}  // namespace search::lab
