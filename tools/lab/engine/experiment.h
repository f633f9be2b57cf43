// An experiment: its runs, and the lines that their figures must reach. Each is one file in the
// folder of its subject.
//
//   Experiment { points ─► run(point, seed) ─► Results ─► judge ─► Judgement: rows, plots }
//
// In the simulated world a run is a pure function of its point and seed. An experiment neither
// prints nor writes files; the lab does that in the same way for all.
//
// Threads: Experiment is immutable; run is called from several kernel threads at once unless
//   `parallel` is false.
// Limits: a smoke run of all points takes at most 5 s, a quick one 60 s on two cores.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/engine/judgement.h"
#include "tools/lab/engine/results.h"

namespace search::lab {

enum class WorldKind { kSim, kReal };
std::string_view WorldName(WorldKind world);

struct RunContext {
  WorldKind world = WorldKind::kSim;
  Length length = Length::kFull;
  uint64_t seed = 1;

  // Returns the argument for this length.
  template <typename T>
  T Pick(T smoke, T quick, T full) const {
    return length == Length::kSmoke ? smoke : length == Length::kQuick ? quick : full;
  }
};

// How often each point is run, with one seed each time. Fewer than kRunCountMin decide nothing.
struct SeedCounts {
  int smoke = 1;
  int quick = kRunCountMin;
  // A full run looks at its rows after this many, and goes on until they are decided.
  int full = kRunCountMin;
  // A full run ends here at the latest; 0: kMostOfFull times `full`, or kMostOfFullReal times if
  // runs measure the machine, because they are long and cannot run side by side.
  int most = 0;
};
inline constexpr int kMostOfFull = 8;
inline constexpr int kMostOfFullReal = 2;

struct Experiment {
  // The name on the command line, "lb_polling".
  std::string name;
  // One line for people.
  std::string title;
  // The place of the figures to compare with: "[Shen02] 3.2.3, figure 3.3".
  std::string source;
  // The set-up, the fitted parameters, the swept parameters of baselines: a paragraph or more.
  std::string setup;
  // Supported worlds; the first is the default.
  std::vector<WorldKind> worlds = {WorldKind::kSim};
  SeedCounts seeds{};
  // False if runs measure the machine: they then run one after the other, all points of a seed
  // before the next seed, so that points are interleaved.
  bool parallel = true;
  // The settings to run. A smoke run may omit some.
  std::function<std::vector<Point>(Length)> points;
  // The points of the recorded run (engine/recorded.h), which are simulated. Unset: those of a
  // smoke run if the first world is kSim, otherwise there is no recorded run.
  std::function<std::vector<Point>()> recorded_points{};
  // One run of one point. An error ends the experiment without a verdict.
  std::function<neptune::StatusOr<Measurement>(const Point&, const RunContext&)> run;
  // Adds rows with their lines, plots and notes. Called after all points are measured.
  std::function<void(const Results&, Judgement*)> judge;
};

}  // namespace search::lab
