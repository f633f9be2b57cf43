#include "frontend/policy/reload_budget.h"

#include <algorithm>
#include <chrono>

namespace search::frontend {

bool ReloadBudget::Take(uint64_t miss_count, neptune::TimePoint now) {
  if (share_max_ >= 1) return true;
  neptune::LeafLock lock(&mutex_);
  const double misses =
      miss_count > miss_count_ ? static_cast<double>(miss_count - miss_count_) : 0;
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - at_).count());
  left_ = std::min(kReloadBurst, left_ + misses * share_max_ + seconds * kReloadsPerSecond);
  miss_count_ = std::max(miss_count_, miss_count);
  at_ = std::max(at_, now);
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

}  // namespace search::frontend
