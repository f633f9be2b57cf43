#include "tools/lab/kit/percentile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace search::lab {

double PercentileMs(std::vector<neptune::Duration> times, double fraction) {
  if (times.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(fraction * static_cast<double>(times.size())));
  const auto nth =
      times.begin() + static_cast<ptrdiff_t>(std::clamp<size_t>(rank, 1, times.size()) - 1);
  std::nth_element(times.begin(), nth, times.end());
  return neptune::ToMillis(*nth);
}

}  // namespace search::lab
