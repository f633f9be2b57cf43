#include "cache/eviction/w_tiny_lfu.h"

#include <algorithm>
#include <cstddef>

namespace search::cache {
namespace {

constexpr double kWindowShareMin = 0.01;
constexpr double kWindowShareMax = 0.8;
// The first sample of the climber in a cache with few entries.
constexpr uint64_t kSampleSizeMin = 2000;

}  // namespace

WTinyLfu::WTinyLfu(uint64_t size_max, const WTinyLfuOptions& options)
    : size_max_(size_max), options_(options) {
  SetWindowShare(options.window_share);
}

void WTinyLfu::SetWindowShare(double share) {
  window_share_ = std::clamp(share, kWindowShareMin, kWindowShareMax);
  window_size_max_ = static_cast<uint64_t>(static_cast<double>(size_max_) * window_share_);
  protected_size_max_ =
      static_cast<uint64_t>(static_cast<double>(size_max_ - window_size_max_) * kProtectedShare);
}

void WTinyLfu::CountForWindow(bool is_hit) {
  if (!options_.adapts_window) return;
  const uint64_t sample_size =
      std::max(kSampleSizeMin, FrequencySketch::kSampleFactor * entry_count());
  const std::optional<double> change = climber_.Count(is_hit, sample_size);
  if (change) SetWindowShare(window_share_ + *change);
}

void WTinyLfu::Touch(uint64_t id) {
  const NodeIndex index = lists_.Find(id);
  if (index == EntryLists::kNone) return;
  sketch_.Add(id);
  CountForWindow(true);
  Use(index);
}

// An entry used in probation becomes protected, which may send the least recently used protected
// ones back.
void WTinyLfu::Use(NodeIndex index) {
  const bool is_in_window = lists_[index].list == kWindow;
  lists_.Move(index, is_in_window ? kWindow : kProtected);
  if (!is_in_window) ShrinkProtected();
}

void WTinyLfu::ShrinkProtected() {
  while (lists_.size(kProtected) > protected_size_max_) {
    lists_.Move(lists_.oldest(kProtected), kProbation);
  }
}

bool WTinyLfu::Insert(uint64_t id, EntryWeight weight, Evicted* evicted) {
  const size_t evicted_before = evicted->size();
  const NodeIndex resident = lists_.Find(id);
  sketch_.Add(id);
  if (resident == EntryLists::kNone) {
    lists_.PushNewest(lists_.Add(id, weight), kWindow);
    CountForWindow(false);
    sketch_.EnsureCapacity(entry_count());
  } else {
    const uint8_t list = lists_[resident].list;
    lists_.Unlink(resident);
    lists_.SetWeight(resident, weight);
    lists_.PushNewest(resident, list);
    Use(resident);
  }
  EmptyOverfullWindow(evicted);
  MakeRoom(evicted);
  const auto self =
      std::find(evicted->begin() + static_cast<ptrdiff_t>(evicted_before), evicted->end(), id);
  if (self == evicted->end()) return true;
  evicted->erase(self);
  return false;
}

void WTinyLfu::EmptyOverfullWindow(Evicted* evicted) {
  while (lists_.size(kWindow) > window_size_max_) {
    const NodeIndex candidate = lists_.oldest(kWindow);
    victims_.clear();
    if (size() <= size_max_ || WinsContest(candidate, &victims_)) {
      for (const NodeIndex victim : victims_) Evict(victim, evicted);
      lists_.Move(candidate, kProbation);
    } else {
      Evict(candidate, evicted);
    }
  }
}

// Whether the candidate is worth more than the entries of the main part that must go for it, which
// are appended to *victims; undefined ones if it is not.
bool WTinyLfu::WinsContest(NodeIndex candidate, std::vector<NodeIndex>* victims) const {
  const uint64_t needed = size() - size_max_;
  const uint64_t worth = WorthOf(candidate);
  uint64_t victim_size = 0;
  uint64_t victim_worth = 0;
  for (const List list : {kProbation, kProtected}) {
    for (NodeIndex victim = lists_.oldest(list); victim != EntryLists::kNone;
         victim = lists_[victim].newer) {
      victim_worth += WorthOf(victim);
      if (victim_worth >= worth || victims->size() == kVictimCountMax) return false;
      victims->push_back(victim);
      victim_size += lists_[victim].size;
      if (victim_size >= needed) return true;
    }
  }
  return false;
}

// At least 1, because an entry was asked for when it came.
uint64_t WTinyLfu::WorthOf(NodeIndex index) const {
  const EntryLists::Node& node = lists_[index];
  const uint64_t frequency = std::max<uint32_t>(1, sketch_.Estimate(node.id));
  return options_.weighs_cost ? frequency * std::max<uint64_t>(1, node.cost_us) : frequency;
}

// Needed after an entry of the main part grew, or the window's share did.
void WTinyLfu::MakeRoom(Evicted* evicted) {
  while (size() > size_max_) {
    for (const List list : {kProbation, kProtected, kWindow}) {
      if (lists_.count(list) == 0) continue;
      Evict(lists_.oldest(list), evicted);
      break;
    }
  }
}

void WTinyLfu::Evict(NodeIndex index, Evicted* evicted) {
  evicted->push_back(lists_[index].id);
  lists_.Erase(index);
}

void WTinyLfu::Remove(uint64_t id) {
  const NodeIndex index = lists_.Find(id);
  if (index != EntryLists::kNone) lists_.Erase(index);
}

void WTinyLfu::Clear() {
  lists_.Clear();
  sketch_.Clear();
  climber_ = {};
  SetWindowShare(options_.window_share);
}

}  // namespace search::cache
