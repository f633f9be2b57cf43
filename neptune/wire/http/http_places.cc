#include "neptune/wire/http/http_places.h"

#include <algorithm>

#include "neptune/world/network.h"

namespace neptune {
namespace {

bool IsLoopback(uint32_t address) {
  constexpr uint32_t kNetShift = 24;
  return address >> kNetShift == kLoopbackAddress >> kNetShift;
}

}  // namespace

void HttpPlaces::Add(Place* place, uint64_t id, uint32_t address, TimePoint now) {
  place->id_ = id;
  place->standing_ = HttpStanding::kFresh;
  place->since_ = now;
  place->address_number_ = address;
  place->address_ = &addresses_[address];
  ++place->address_->count;
  ++count_;
  List& fresh = ListOf(HttpStanding::kFresh);
  place->at_ = fresh.insert(fresh.end(), place);
  List& idle = place->address_->idle;
  place->at_address_ = idle.insert(idle.end(), place);
}

void HttpPlaces::Remove(Place* place) {
  if (place->address_ == nullptr) return;
  ListOf(place->standing_).erase(place->at_);
  (place->is_idle() ? place->address_->idle : place->spare_).erase(place->at_address_);
  if (--place->address_->count == 0) addresses_.erase(place->address_number_);
  place->address_ = nullptr;
  --count_;
}

void HttpPlaces::Note(Place* place, HttpStanding standing, bool progressed, TimePoint now) {
  if (place->address_ == nullptr || (standing == place->standing_ && !progressed)) return;
  const bool was_idle = place->is_idle();
  MoveToEnd(ListOf(place->standing_), place->at_, &ListOf(standing));
  place->standing_ = standing;
  place->since_ = now;
  List& from = was_idle ? place->address_->idle : place->spare_;
  MoveToEnd(from, place->at_address_, place->is_idle() ? &place->address_->idle : &place->spare_);
}

bool HttpPlaces::AtAddressLimit(uint32_t address, size_t more) const {
  if (IsLoopback(address)) return false;
  const auto found = addresses_.find(address);
  return found != addresses_.end() && found->second.count >= limits_.per_address_max + more;
}

const HttpPlaces::Place* HttpPlaces::FirstOver(HttpStanding standing, TimePoint now) const {
  const Place* const first = First(standing);
  return first != nullptr && now - first->since_ > limits_.grace ? first : nullptr;
}

std::optional<uint64_t> HttpPlaces::ChooseToGiveWay(TimePoint now) const {
  if (const Place* silent = FirstOver(HttpStanding::kFresh, now)) return silent->id_;
  if (const Place* idle = First(HttpStanding::kIdle)) return idle->id_;
  if (const Place* fresh = First(HttpStanding::kFresh)) return fresh->id_;
  if (const Place* slow = FirstOver(HttpStanding::kReceiving, now)) return slow->id_;
  return IdOf(FirstOver(HttpStanding::kSending, now));
}

std::optional<uint64_t> HttpPlaces::ChooseOfAddress(uint32_t address) const {
  const auto found = addresses_.find(address);
  if (found == addresses_.end() || found->second.idle.empty()) return std::nullopt;
  return found->second.idle.front()->id_;
}

std::optional<uint64_t> HttpPlaces::ChooseSlowest(TimePoint now) const {
  if (const Place* reader = FirstOver(HttpStanding::kSending, now)) return reader->id_;
  return IdOf(FirstOver(HttpStanding::kReceiving, now));
}

TimePoint HttpPlaces::OldestIdle() const {
  TimePoint oldest = kNever;
  for (const HttpStanding standing : {HttpStanding::kFresh, HttpStanding::kIdle}) {
    if (const Place* first = First(standing)) oldest = std::min(oldest, first->since_);
  }
  return oldest;
}

std::optional<uint64_t> HttpPlaces::ChooseIdleSince(TimePoint since) const {
  for (const HttpStanding standing : {HttpStanding::kFresh, HttpStanding::kIdle}) {
    const Place* const first = First(standing);
    if (first != nullptr && first->since_ <= since) return first->id_;
  }
  return std::nullopt;
}

}  // namespace neptune
