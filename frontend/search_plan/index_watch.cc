#include "frontend/search_plan/index_watch.h"

namespace search::frontend {

std::optional<IndexState> IndexWatch::KnownAt(neptune::TimePoint now) {
  neptune::LeafLock lock(&mutex_);
  if (state_.epoch == 0 || now < checked_at_ + interval_) return state_;
  checked_at_ =
      now;  // other queries use the cache until this one has an answer or an interval passed
  Show();
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
  Show();
}

void IndexWatch::Show() {
  constexpr auto kOrder = std::memory_order_relaxed;
  // Unchanged values are not written, so that the loops that read them keep their copies.
  if (shown_version_.load(kOrder) != state_.version) shown_version_.store(state_.version, kOrder);
  if (shown_epoch_.load(kOrder) != state_.epoch) shown_epoch_.store(state_.epoch, kOrder);
  if (state_.epoch != 0) shown_checked_at_.store(checked_at_.time_since_epoch().count(), kOrder);
}

bool IndexWatch::MayRepeat(const IndexState& of, neptune::Duration age,
                           neptune::TimePoint now) const {
  constexpr auto kOrder = std::memory_order_relaxed;
  if (of.version != shown_version_.load(kOrder)) return false;
  const uint64_t epoch = shown_epoch_.load(kOrder);
  const neptune::TimePoint checked_at{neptune::Duration(shown_checked_at_.load(kOrder))};
  if (epoch != 0 && now >= checked_at + interval_) return false;
  return of.epoch == epoch || age < interval_;
}

}  // namespace search::frontend
