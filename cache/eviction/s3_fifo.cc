#include "cache/eviction/s3_fifo.h"

namespace search::cache {

S3Fifo::S3Fifo(uint64_t size_max)
    : size_max_(size_max),
      small_size_max_(static_cast<uint64_t>(static_cast<double>(size_max) * kSmallShare)) {}

void S3Fifo::Touch(uint64_t id) {
  const NodeIndex index = lists_.Find(id);
  if (index == EntryLists::kNone || lists_[index].list == kGhost) return;
  const uint8_t use_count = lists_[index].use_count;
  if (use_count < kUseCountMax) lists_.SetUseCount(index, use_count + 1);
}

bool S3Fifo::Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
  NodeIndex index = lists_.Find(id);
  Queue queue = kSmall;
  if (index != EntryLists::kNone) {
    if (lists_[index].list != kSmall) queue = kMain;
    lists_.Unlink(index);  // protects it from the eviction below
  }
  MakeRoom(weight.size, evicted);
  if (index == EntryLists::kNone) {
    index = lists_.Add(id, weight);
  } else {
    lists_.SetWeight(index, weight);
  }
  lists_.PushNewest(index, queue);
  return true;
}

void S3Fifo::Remove(uint64_t id) {
  if (Contains(id)) lists_.Erase(lists_.Find(id));
}

void S3Fifo::Clear() { lists_.Clear(); }

bool S3Fifo::Contains(uint64_t id) const {
  const NodeIndex index = lists_.Find(id);
  return index != EntryLists::kNone && lists_[index].list != kGhost;
}

void S3Fifo::MakeRoom(uint64_t size, std::vector<uint64_t>* evicted) {
  while (entry_count() > 0 && this->size() + size > size_max_) {
    if (lists_.count(kMain) == 0 ||
        (lists_.count(kSmall) > 0 && lists_.size(kSmall) >= small_size_max_)) {
      EvictFromSmall(evicted);
    } else {
      EvictFromMain(evicted);
    }
  }
}

// Stops after evicting one entry, or after moving the whole queue to the main queue.
void S3Fifo::EvictFromSmall(std::vector<uint64_t>* evicted) {
  while (lists_.count(kSmall) > 0) {
    const NodeIndex index = lists_.oldest(kSmall);
    const bool is_promoted = lists_[index].use_count > kPromotionUseCount;
    lists_.SetUseCount(index, 0);
    if (is_promoted) {
      lists_.Move(index, kMain);
      continue;
    }
    evicted->push_back(lists_[index].id);
    BecomeGhost(index);
    return;
  }
}

// An entry with uses is reinserted at the head and loses one use.
void S3Fifo::EvictFromMain(std::vector<uint64_t>* evicted) {
  while (lists_.count(kMain) > 0) {
    const NodeIndex index = lists_.oldest(kMain);
    const uint8_t use_count = lists_[index].use_count;
    if (use_count > 0) {
      lists_.SetUseCount(index, use_count - 1);
      lists_.Move(index, kMain);
      continue;
    }
    evicted->push_back(lists_[index].id);
    lists_.Erase(index);
    return;
  }
}

void S3Fifo::BecomeGhost(NodeIndex index) {
  lists_.Move(index, kGhost);
  while (lists_.size(kGhost) > size_max_ - small_size_max_) lists_.Erase(lists_.oldest(kGhost));
}

}  // namespace search::cache
