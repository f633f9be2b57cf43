#include "frontend/policy/skip_forecast.h"

#include <algorithm>

namespace search::frontend {

size_t SkipForecast::ClassOf(size_t word_count) { return std::min(word_count, kClassCount - 1); }

double SkipForecast::SkipShare(size_t word_count) const {
  neptune::LeafLock lock(&mutex_);
  const Class& known = classes_[ClassOf(word_count)];
  return known.skips / known.decisions;
}

void SkipForecast::Record(size_t word_count, bool was_skippable) {
  neptune::LeafLock lock(&mutex_);
  Class& known = classes_[ClassOf(word_count)];
  if (known.decisions >= kMemory) {
    known.skips *= 1 - 1 / known.decisions;
    known.decisions -= 1;
  }
  known.decisions += 1;
  known.skips += was_skippable ? 1 : 0;
}

}  // namespace search::frontend
