#include "neptune/wire/http/http_body_budget.h"

#include <algorithm>

namespace neptune {

size_t HttpBodyBudget::used() const {
  LeafLock lock(&mutex_);
  return used_;
}

uint64_t HttpBodyBudget::refused_for_others_count() const {
  LeafLock lock(&mutex_);
  return refused_count_;
}

bool HttpBodyCharge::Cover(size_t size) {
  if (size <= std::max(covered_, HttpBodyBudget::kFreeSize)) return true;
  const size_t rounded =
      (size + HttpBodyBudget::kStep - 1) / HttpBodyBudget::kStep * HttpBodyBudget::kStep;
  HttpBodyBudget::Refusals refusals;
  const bool has_room = budget_->Grow(this, rounded, &refusals);
  for (const auto& refuse : refusals) refuse();
  if (has_room) covered_ = rounded;
  return has_room;
}

bool HttpBodyBudget::Grow(HttpBodyCharge* charge, size_t size, Refusals* refusals) {
  LeafLock lock(&mutex_);
  if (charge->refused_ || size > size_max_) return false;
  const size_t more = size - charge->size_;
  while (used_ + more > size_max_) {
    if (!RefuseGreediest(*charge, more, refusals)) return false;
  }
  Change(charge, size);
  if (!charge->listed_) {
    std::list<HttpBodyCharge*>& unfinished = addresses_[charge->address_].unfinished;
    charge->at_ = unfinished.insert(unfinished.end(), charge);
    charge->listed_ = true;
  }
  return true;
}

bool HttpBodyBudget::RefuseGreediest(const HttpBodyCharge& charge, size_t more,
                                     Refusals* refusals) {
  const auto own = addresses_.find(charge.address_);
  const size_t own_size = (own == addresses_.end() ? 0 : own->second.size) + more;
  for (auto greedy = by_size_.rbegin(); greedy != by_size_.rend(); ++greedy) {
    const auto& [size, address] = *greedy;
    if (size <= own_size || address == charge.address_) return false;
    const Address& holder = addresses_.at(address);
    if (holder.unfinished.empty()) continue;  // its bodies are being handled
    HttpBodyCharge* const victim = holder.unfinished.back();
    victim->refused_ = true;
    ++refused_count_;
    refusals->push_back(victim->refuse_);
    Unlist(victim);
    Change(victim, 0);
    return true;
  }
  return false;
}

void HttpBodyBudget::Change(HttpBodyCharge* charge, size_t size) {
  Address& address = addresses_[charge->address_];
  by_size_.erase({address.size, charge->address_});
  address.size += size - charge->size_;
  used_ += size - charge->size_;
  charge->size_ = size;
  if (address.size > 0) {
    by_size_.emplace(address.size, charge->address_);
  } else if (address.unfinished.empty()) {
    addresses_.erase(charge->address_);
  }
  if (used_gauge_ != nullptr) used_gauge_->Set(static_cast<double>(used_));
}

void HttpBodyBudget::Unlist(HttpBodyCharge* charge) {
  if (!std::exchange(charge->listed_, false)) return;
  addresses_.at(charge->address_).unfinished.erase(charge->at_);
}

bool HttpBodyBudget::Finish(HttpBodyCharge* charge) {
  LeafLock lock(&mutex_);
  Unlist(charge);
  return !charge->refused_;
}

bool HttpBodyBudget::IsRefused(const HttpBodyCharge& charge) const {
  LeafLock lock(&mutex_);
  return charge.refused_;
}

void HttpBodyBudget::Release(HttpBodyCharge* charge) {
  LeafLock lock(&mutex_);
  Unlist(charge);
  if (charge->size_ > 0) Change(charge, 0);
}

}  // namespace neptune
