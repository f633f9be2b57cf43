// Percentiles of response times.
//
// Threads: a pure function.
// Units: milliseconds, with fractions.

#pragma once

#include <vector>

#include "neptune/base/time.h"

namespace search::lab {

// The smallest of `times` that is not exceeded by this fraction of them (nearest rank); 0 of none.
double PercentileMs(std::vector<neptune::Duration> times, double fraction);

}  // namespace search::lab
