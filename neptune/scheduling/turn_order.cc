#include "neptune/scheduling/turn_order.h"

#include <algorithm>

namespace neptune {

void TurnOrder::Add(uint64_t id, const TurnClaim& claim, TimePoint now) {
  waiting_.push_back({id, claim, now});
}

bool TurnOrder::Remove(uint64_t id) {
  return std::erase_if(waiting_, [id](const Waiting& one) { return one.id == id; }) > 0;
}

bool TurnOrder::Precedes(const Waiting& a, const Waiting& b, TimePoint now) const {
  const bool a_is_overdue = IsOverdue(a, now);
  if (a_is_overdue != IsOverdue(b, now)) return a_is_overdue;
  if (a_is_overdue) return a.since < b.since;
  if (a.claim.is_owed != b.claim.is_owed) return a.claim.is_owed;
  if (a.claim.work_left != b.claim.work_left) return a.claim.work_left < b.claim.work_left;
  return a.since < b.since;
}

std::optional<TurnOrder::Turn> TurnOrder::Next(TimePoint now) {
  const auto next =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [&](const Waiting& a, const Waiting& b) { return Precedes(a, b, now); });
  if (next == waiting_.end()) return std::nullopt;
  const Turn turn{next->id, now + (IsOverdue(*next, now) ? options_.slice : options_.turn_min)};
  waiting_.erase(next);
  return turn;
}

bool TurnOrder::MustGiveWay(const TurnClaim& holder, TimePoint kept_until,
                            const std::optional<Beginner>& beginner, TimePoint now) const {
  if (now < kept_until) return false;
  const auto competes = [&](uint64_t group) { return !holder.is_owed || group == holder.group; };
  if (beginner && competes(beginner->group)) return true;
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    if (IsOverdue(one, now)) return true;
    if (one.claim.is_owed && !holder.is_owed) return true;
    return competes(one.claim.group) && one.claim.work_left < holder.work_left;
  });
}

bool TurnOrder::HasOverdue(TimePoint now) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& one) { return IsOverdue(one, now); });
}

}  // namespace neptune
