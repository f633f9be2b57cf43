// Runs an experiment: every point once a seed, in parallel where that changes nothing.
//
// Threads: RunExperiment starts its own and joins them.
// Errors: that of the first run that failed, with its point and seed; kInvalidArgument a world that the experiment
//   does not know.

#pragma once

#include <cstdint>
#include <functional>

#include "tools/lab/engine/experiment.h"

namespace search::lab {

struct RunOptions {
  // Absent: the experiment's first.
  std::optional<WorldKind> world{};
  Length length = Length::kFull;
  // 0: as many as the experiment says for this length.
  int seed_count = 0;
  uint64_t first_seed = 1;
  // Kernel threads; 0: one a processor.
  int thread_count = 0;
};

// Told of each finished run, one at a time, in no particular order: what is measured is safe with the caller then.
using OnRun = std::function<void(const Point&, uint64_t seed, const Measurement&)>;

int SeedCount(const Experiment& experiment, const RunOptions& options);

neptune::StatusOr<Results> RunExperiment(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run);

}  // namespace search::lab
