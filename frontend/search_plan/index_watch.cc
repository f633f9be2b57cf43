#include "frontend/search_plan/index_watch.h"

namespace search::frontend {

std::optional<IndexState> IndexWatch::KnownAt(neptune::TimePoint now) {
  neptune::LeafLock lock(&mutex_);
  if (state_.epoch == 0 || now < checked_at_ + interval_) return state_;
  checked_at_ =
      now;  // other queries use the cache until this one has an answer or an interval passed
  return std::nullopt;
}

uint64_t IndexWatch::EpochToKeep(uint64_t epoch, neptune::TimePoint begin) {
  neptune::LeafLock lock(&mutex_);
  return epoch == state_.epoch && begin >= since_ + interval_ ? epoch : 0;
}

bool IndexWatch::MayGive(uint64_t entry_epoch, neptune::Duration age) {
  neptune::LeafLock lock(&mutex_);
  return entry_epoch == state_.epoch || age < interval_;
}

void IndexWatch::Learn(const IndexState& state, neptune::TimePoint now) {
  neptune::LeafLock lock(&mutex_);
  if (state.epoch != state_.epoch || state.version != state_.version) since_ = now;
  state_ = state;
  checked_at_ = now;
}

}  // namespace search::frontend
