#include "neptune/wire/connection_slots.h"

namespace neptune {

void ConnectionSlots::Add(std::shared_ptr<IdleConnections> idle) {
  LeafLock lock(&mutex_);
  offers_.push_back(std::move(idle));
}

void ConnectionSlots::Remove(const IdleConnections* idle) {
  LeafLock lock(&mutex_);
  std::erase_if(offers_, [&](const auto& offer) { return offer.get() == idle; });
}

std::shared_ptr<IdleConnections> ConnectionSlots::LongestBeside(const IdleConnections* self) const {
  LeafLock lock(&mutex_);
  std::shared_ptr<IdleConnections> longest;
  TimePoint oldest = kNever;
  for (const auto& offer : offers_) {
    const TimePoint since = offer->oldest();
    if (offer.get() == self || since >= oldest) continue;
    oldest = since;
    longest = offer;
  }
  return longest;
}

TimePoint ConnectionSlots::OldestBeside(const IdleConnections* self) const {
  const std::shared_ptr<IdleConnections> longest = LongestBeside(self);
  return longest == nullptr ? kNever : longest->oldest();
}

bool ConnectionSlot::TryBorrow(const std::shared_ptr<ConnectionSlots>& slots,
                               const IdleConnections* self) {
  const std::shared_ptr<IdleConnections> longest = slots->LongestBeside(self);
  if (longest == nullptr || !slots->TryTake(slots->limit() + slots->borrowed_count_max())) {
    return false;
  }
  slots_ = slots;
  longest->CloseOneSoon();
  return true;
}

}  // namespace neptune
