// The list of all experiments.
//
// Threads: pure functions.

#pragma once

#include <vector>

#include "tools/lab/engine/experiment.h"

namespace search::lab {

// In the order of `lab list`; the report is ordered by name. Names are unique.
std::vector<Experiment> AllExperiments();

}  // namespace search::lab
