#include "cache/eviction/lru.h"

namespace search::cache {

void Lru::Touch(uint64_t id) {
  const EntryLists::NodeIndex index = lists_.Find(id);
  if (index != EntryLists::kNone) lists_.Move(index, kAll);
}

bool Lru::Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
  Remove(id);
  while (lists_.count(kAll) > 0 && size() + weight.size > size_max_) {
    const EntryLists::NodeIndex oldest = lists_.oldest(kAll);
    evicted->push_back(lists_[oldest].id);
    lists_.Erase(oldest);
  }
  lists_.PushNewest(lists_.Add(id, weight), kAll);
  return true;
}

void Lru::Remove(uint64_t id) {
  const EntryLists::NodeIndex index = lists_.Find(id);
  if (index != EntryLists::kNone) lists_.Erase(index);
}

}  // namespace search::cache
