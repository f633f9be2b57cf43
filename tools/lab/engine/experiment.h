// An experiment: what is run, and what is asked of the figures. One file each, in the folder of its subject.
//
//   Experiment { points ─► run each point once a seed ─► Results ─► judge ─► Judgement: rows, plots }
//
// A run is a pure function of its point and seed in the simulated world. Nothing in an experiment prints or
// writes files: the lab does that, the same way for all.
//
// Threads: Experiment is immutable; run is called from several kernel threads at once unless `parallel` is false.
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

  // One of three by length.
  template <typename T>
  T Pick(T smoke, T quick, T full) const {
    return length == Length::kSmoke ? smoke : length == Length::kQuick ? quick : full;
  }
};

struct SeedCounts {
  int smoke = 1;
  int quick = 2;
  int full = 5;
};

struct Experiment {
  // As on the command line, "lb_polling".
  std::string name;
  // One line for people.
  std::string title;
  // Where the figures to compare with stand: "[Shen02] 3.2.3, figure 3.3".
  std::string source;
  // The set-up, what was fitted to what, which parameters of a baseline were swept: a paragraph or more.
  std::string setup;
  // The first is the default.
  std::vector<WorldKind> worlds = {WorldKind::kSim};
  SeedCounts seeds{};
  // False where runs measure the machine: they then run one after the other, all points of a seed before the next
  // seed, so that points are interleaved.
  bool parallel = true;
  // What is varied. A smoke run may leave points out.
  std::function<std::vector<Point>(Length)> points;
  // One run of one point. An error ends the experiment without a verdict.
  std::function<neptune::StatusOr<Measurement>(const Point&, const RunContext&)> run;
  // Rows of the table with their lines, plots and notes. Is called with all points measured.
  std::function<void(const Results&, Judgement*)> judge;
};

}  // namespace search::lab
