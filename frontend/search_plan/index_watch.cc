#include "frontend/search_plan/index_watch.h"

namespace search::frontend {

IndexState StateOf(uint64_t index_version, uint64_t tier1_epoch) {
  if (tier1_epoch == 0) return {.version = index_version};
  constexpr uint64_t kSpread = 0x9E3779B97F4A7C15;  // odd: epochs of one index never meet
  return {.version = index_version + tier1_epoch * kSpread, .is_live = true};
}

std::optional<uint64_t> IndexWatch::VersionAt(neptune::TimePoint now) {
  neptune::LeafLock lock(&mutex_);
  if (!state_.is_live || now < checked_at_ + interval_) return state_.version;
  checked_at_ = now;  // the others go on until it has an answer, or another interval has passed
  return std::nullopt;
}

void IndexWatch::Learn(const IndexState& state, neptune::TimePoint now) {
  neptune::LeafLock lock(&mutex_);
  state_ = state;
  checked_at_ = now;
}

}  // namespace search::frontend
