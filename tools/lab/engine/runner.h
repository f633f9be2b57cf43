// Runs an experiment: every point with every seed, in parallel if the experiment permits it.
//
// Threads: RunExperiment starts and joins its own.
// Errors: that of the first failed run, with its point and seed; kInvalidArgument a world that the
//   experiment does not support.

#pragma once

#include <cstdint>
#include <functional>

#include "tools/lab/engine/experiment.h"

namespace search::lab {

struct RunOptions {
  // Unset: the experiment's first.
  std::optional<WorldKind> world{};
  Length length = Length::kFull;
  // 0: the experiment's number for this length.
  int seed_count = 0;
  uint64_t first_seed = 1;
  // Kernel threads; 0: one per processor.
  int thread_count = 0;
};

// Called after each run, one call at a time, in the order of completion, so that the caller can
// save each result at once.
using OnRun = std::function<void(const Point&, uint64_t seed, const Measurement&)>;

int SeedCount(const Experiment& experiment, const RunOptions& options);

neptune::StatusOr<Results> RunExperiment(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run);

}  // namespace search::lab
