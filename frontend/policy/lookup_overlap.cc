#include "frontend/policy/lookup_overlap.h"

#include <algorithm>

namespace search::frontend {

size_t LookupOverlap::ClassOf(size_t word_count) { return std::min(word_count, kClassCount - 1); }

bool LookupOverlap::Begin(size_t word_count, bool is_busy) {
  if (is_busy || options_.waste_share_max <= 0) return false;
  neptune::LeafLock lock(&mutex_);
  const Class& known = classes_[ClassOf(word_count)];
  if (known.misses < options_.miss_share_min * known.lookups || allowance_ < 1) return false;
  allowance_ -= 1;
  return true;
}

void LookupOverlap::End(bool is_wasted) {
  if (is_wasted) return;
  neptune::LeafLock lock(&mutex_);
  allowance_ = std::min(allowance_ + 1, kAllowanceMax);
}

void LookupOverlap::Record(size_t word_count, bool is_hit) {
  neptune::LeafLock lock(&mutex_);
  Class& known = classes_[ClassOf(word_count)];
  if (known.lookups >= kMemory) {
    known.misses *= 1 - 1 / known.lookups;
    known.lookups -= 1;
  }
  known.lookups += 1;
  if (is_hit) return;
  known.misses += 1;
  allowance_ = std::min(allowance_ + options_.waste_share_max, kAllowanceMax);
}

}  // namespace search::frontend
