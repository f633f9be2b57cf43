#include "cache/eviction/arc.h"

#include <algorithm>

namespace search::cache {

void Arc::Touch(uint64_t id) {
  const NodeIndex index = lists_.Find(id);
  if (IsResident(index)) lists_.Move(index, kFrequent);
}

bool Arc::Insert(uint64_t id, EntryWeight weight, Evicted* evicted) {
  const NodeIndex index = lists_.Find(id);
  if (index == EntryLists::kNone) {
    InsertNew(id, weight, evicted);
    return true;
  }
  const auto list = static_cast<List>(lists_[index].list);
  if (!IsResident(index)) LearnFromGhost(list, weight.size);
  lists_.Unlink(index);
  MakeRoom(weight.size, list == kFrequentGhost, evicted);
  lists_.SetWeight(index, weight);
  lists_.PushNewest(index, kFrequent);
  TrimGhosts();
  return true;
}

void Arc::InsertNew(uint64_t id, EntryWeight weight, Evicted* evicted) {
  // The recent list and its ghosts together have at most size_max, and all four lists twice that.
  while (lists_.size(kRecent) + lists_.size(kRecentGhost) + weight.size > size_max_) {
    if (lists_.count(kRecentGhost) > 0) {
      lists_.Erase(lists_.oldest(kRecentGhost));
    } else {
      const NodeIndex oldest = lists_.oldest(kRecent);
      evicted->push_back(lists_[oldest].id);
      lists_.Erase(oldest);
    }
  }
  const auto all = [this] {
    return size() + lists_.size(kRecentGhost) + lists_.size(kFrequentGhost);
  };
  while (lists_.count(kFrequentGhost) > 0 && all() + weight.size > 2 * size_max_) {
    lists_.Erase(lists_.oldest(kFrequentGhost));
  }
  MakeRoom(weight.size, false, evicted);
  lists_.PushNewest(lists_.Add(id, weight), kRecent);
  TrimGhosts();
}

void Arc::LearnFromGhost(List list, uint64_t size) {
  const uint64_t recent = lists_.size(kRecentGhost);
  const uint64_t frequent = lists_.size(kFrequentGhost);
  const auto step = [size](uint64_t other, uint64_t own) {
    return size * std::max<uint64_t>(1, other / own);
  };
  if (list == kRecentGhost) {
    target_ = std::min(size_max_, target_ + step(frequent, recent));
  } else {
    target_ -= std::min(target_, step(recent, frequent));
  }
}

void Arc::MakeRoom(uint64_t size, bool was_frequent_ghost, Evicted* evicted) {
  while (entry_count() > 0 && this->size() + size > size_max_) {
    const uint64_t recent = lists_.size(kRecent);
    const bool is_recent_too_large = recent > target_ || (was_frequent_ghost && recent == target_);
    const bool from_recent =
        lists_.count(kFrequent) == 0 || (lists_.count(kRecent) > 0 && is_recent_too_large);
    const NodeIndex oldest = lists_.oldest(from_recent ? kRecent : kFrequent);
    evicted->push_back(lists_[oldest].id);
    lists_.Move(oldest, from_recent ? kRecentGhost : kFrequentGhost);
  }
}

// Does nothing while all entries have one size, as in the source.
void Arc::TrimGhosts() {
  while (lists_.count(kRecentGhost) > 0 &&
         lists_.size(kRecent) + lists_.size(kRecentGhost) > size_max_) {
    lists_.Erase(lists_.oldest(kRecentGhost));
  }
  while (lists_.count(kFrequentGhost) > 0 &&
         size() + lists_.size(kRecentGhost) + lists_.size(kFrequentGhost) > 2 * size_max_) {
    lists_.Erase(lists_.oldest(kFrequentGhost));
  }
}

void Arc::Remove(uint64_t id) {
  const NodeIndex index = lists_.Find(id);
  if (IsResident(index)) lists_.Erase(index);
}

void Arc::Clear() {
  lists_.Clear();
  target_ = 0;
}

bool Arc::IsResident(NodeIndex index) const {
  return index != EntryLists::kNone && lists_[index].list <= kFrequent;
}

bool Arc::Contains(uint64_t id) const { return IsResident(lists_.Find(id)); }

}  // namespace search::cache
