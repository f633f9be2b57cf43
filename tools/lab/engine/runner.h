// Runs an experiment: every point with every seed, in parallel if the experiment permits it, until
// its rows are decided.
//
// Threads: the functions start and join their own. What they return, and the order in which they
//   report runs, is the same for any number of threads.
// Errors: that of the first failed run, with its point and seed; kInvalidArgument a world that the
//   experiment does not support.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tools/lab/engine/experiment.h"

namespace search::lab {

struct RunOptions {
  // Unset: the experiment's first.
  std::optional<WorldKind> world{};
  Length length = Length::kFull;
  // Exactly this many runs of each point; 0: the experiment's number for this length, and in a full
  // run more until every row is decided.
  int seed_count = 0;
  // A full run ends after this many runs of each point at the latest; 0: the experiment's number.
  int seed_count_max = 0;
  uint64_t first_seed = 1;
  // Kernel threads; 0: one per processor.
  int thread_count = 0;
};

// Called for each run, one call at a time, seed by seed and within a seed in the order of points. A
// run is reported as soon as all before it are, so that the caller can save it.
using OnRun = std::function<void(const Point&, uint64_t seed, const Measurement&)>;

// The number of runs of each point: at the first look, and at the last.
struct RunCounts {
  int least = 0;
  int most = 0;
};
RunCounts RunCountsOf(const Experiment& experiment, const RunOptions& options);

struct JudgedRun {
  Results results;
  Judgement judgement;
  int run_count = 0;   // of each point
  int look_count = 0;  // how often the rows were judged
};

// Runs, judges, and continues as engine/sequence.h says.
neptune::StatusOr<JudgedRun> RunAndJudge(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run);

// The experiment as its recorded run has it, for a smoke run: its recorded points, in the simulated
// world. Unset if it has no recorded run.
std::optional<Experiment> RecordedForm(const Experiment& experiment);

// Runs every point RunCounts::least times.
neptune::StatusOr<Results> RunExperiment(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run);

}  // namespace search::lab
