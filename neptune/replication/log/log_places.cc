#include "neptune/replication/log/log_places.h"

#include <algorithm>

namespace neptune {

void SegmentUse::Add(const LogPlace& place) {
  sizes_[place.segment] += place.size;
  size_ += place.size;
}

void SegmentUse::Remove(const LogPlace& place) {
  const auto found = sizes_.find(place.segment);
  found->second -= place.size;
  if (found->second == 0) sizes_.erase(found);
  size_ -= place.size;
}

uint64_t SegmentUse::size_of(uint32_t segment) const {
  const auto found = sizes_.find(segment);
  return found == sizes_.end() ? 0 : found->second;
}

void LogPlaces::Release(const LogPlace& place) {
  if (place.is_missing()) {
    --missing_count_;
  } else {
    use_->Remove(place);
  }
}

void LogPlaces::Put(Lsn lsn, const LogPlace& place) {
  if (lsn == last_lsn() + 1) {
    places_.push_back(place);
  } else {
    Release(places_[lsn - first_]);
    places_[lsn - first_] = place;
  }
  if (place.is_missing()) {
    ++missing_count_;
  } else {
    use_->Add(place);
  }
}

void LogPlaces::DropFrom(Lsn lsn) {
  while (!places_.empty() && last_lsn() >= lsn) {
    Release(places_.back());
    places_.pop_back();
  }
}

void LogPlaces::DropBefore(Lsn lsn) {
  while (!places_.empty() && first_ < lsn) {
    Release(places_.front());
    places_.pop_front();
    ++first_;
  }
}

void LogPlaces::Restart(Lsn first) {
  DropFrom(first_);
  first_ = first;
}

void LogPlaces::Resize(Lsn first, Lsn last) {
  if (first > last_lsn() + 1 || last + 1 < first_) Restart(first);
  DropBefore(first);
  DropFrom(last + 1);
  for (; first_ > first; --first_) {
    places_.push_front({});
    ++missing_count_;
  }
  while (last_lsn() < last) Put(last_lsn() + 1, {});
}

void LogPlaces::Forget() {
  const Lsn last = last_lsn();
  Restart(first_);
  Resize(first_, last);
}

}  // namespace neptune
