#include "index/core/segment/posting_cursor.h"

#include <algorithm>

#include "index/core/segment/bit_packing.h"

namespace search::index {

namespace {

// Returns how many of the ascending numbers are smaller than `target`. REQUIRES: the last is not.
// Compares in three levels without branches: a binary search mispredicts half of its seven
// branches, or waits for each of its loads.
uint32_t CountSmaller(const std::array<uint32_t, kPostingBlockSize>& ordinals, uint32_t target) {
  static_assert(kPostingBlockSize == 8 * 4 * 4);
  const uint32_t* group = ordinals.data();
  uint32_t count = 0;
  for (uint32_t i = 0; i < 7; ++i) count += group[16 * i + 15] < target ? 1 : 0;
  uint32_t at = 16 * count;
  group = ordinals.data() + at;
  count = 0;
  for (uint32_t i = 0; i < 3; ++i) count += group[4 * i + 3] < target ? 1 : 0;
  at += 4 * count;
  group = ordinals.data() + at;
  for (uint32_t i = 0; i < 3; ++i) at += group[i] < target ? 1 : 0;
  return at;
}

}  // namespace

PostingCursor::PostingCursor(const PostingStorage& storage, const TermEntry& entry,
                             uint32_t document_count)
    : storage_(&storage),
      entry_(entry),
      document_count_(document_count),
      last_possible_(document_count == 0 ? 0 : document_count - 1) {
  bool good = entry.document_frequency > 0 && entry.document_frequency <= document_count &&
              entry.postings_offset <= storage.postings.size() &&
              entry.postings_size <= storage.postings.size() - entry.postings_offset;
  if (good) postings_ = storage.postings.substr(entry.postings_offset, entry.postings_size);
  block_count_ = entry.block_count();
  if (block_count_ > 1) {
    const uint64_t all = storage.block_lasts.size();
    good = good && entry.first_block <= all && block_count_ <= all - entry.first_block;
    if (good) {
      lasts_ = storage.block_lasts.data() + entry.first_block;
      offsets_ = storage.block_offsets.data() + entry.first_block;
    }
  }
  if (!good) Damage();
}

uint32_t PostingCursor::Exhaust() {
  started_ = true;
  block_ = block_count_;
  index_ = 0;
  count_ = 0;
  return ordinal_ = kNoDocument;
}

uint32_t PostingCursor::Damage() {
  damaged_ = true;
  block_count_ = 0;
  return Exhaust();
}

bool PostingCursor::LoadBlock(uint32_t block) {
  const uint32_t begin = block_count_ == 1 ? 0 : offsets_[block].postings;
  const bool is_last = block + 1 == block_count_;
  // The table of last ordinals may change under way, so that a block may begin before the postings
  // that were returned already.
  const uint32_t least = count_ > 0 && block > block_ ? ordinals_[count_ - 1] + 1 : 0;
  count_ = is_last ? entry_.document_frequency - block * kPostingBlockSize : kPostingBlockSize;
  const uint32_t first_possible = block == 0 ? 0 : lasts_[block - 1] + 1;
  if (begin > postings_.size() || !ReadLayout(postings_.substr(begin), count_, &layout_) ||
      !DecodeOrdinals(layout_, count_, first_possible, document_count_, ordinals_.data()) ||
      (block_count_ > 1 && ordinals_[count_ - 1] != lasts_[block]) || ordinals_[0] < least) {
    Damage();
    return false;
  }
  started_ = true;
  block_ = block;
  index_ = 0;
  ordinal_ = ordinals_[0];
  decoded_frequencies_ = 0;
  return true;
}

uint32_t PostingCursor::NextBlock() {
  const uint32_t next = started_ ? block_ + 1 : 0;
  if (next >= block_count_) return Exhaust();
  LoadBlock(next);
  return ordinal_;
}

uint32_t PostingCursor::FindBlock(uint32_t target, uint32_t from) const {
  if (from >= block_count_) return block_count_;
  if (block_count_ == 1) return target <= last_possible_ ? 0 : 1;
  uint32_t step = 1;
  uint32_t low = from;
  uint32_t high = from;
  while (high < block_count_ && lasts_[high] < target) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, block_count_);
  return static_cast<uint32_t>(std::lower_bound(lasts_ + low, lasts_ + high, target) - lasts_);
}

uint32_t PostingCursor::SeekForward(uint32_t target) {
  if (started_ && ordinal_ == kNoDocument) return kNoDocument;
  if (!started_ || target > ordinals_[count_ - 1]) {
    const uint32_t block = FindBlock(target, started_ ? block_ + 1 : 0);
    if (block >= block_count_) return Exhaust();
    if (!LoadBlock(block)) return kNoDocument;
    if (target > ordinals_[count_ - 1]) {
      return block_count_ == 1 ? Exhaust() : Damage();
    }
  }
  index_ = CountSmaller(ordinals_, target);
  return ordinal_ = ordinals_[index_];
}

void PostingCursor::DecodeFrequencies(size_t field) {
  Unpack(layout_.frequencies[field], count_, layout_.frequency_bits[field],
         frequencies_[field].data());
  decoded_frequencies_ |= 1U << field;
}

std::span<const uint32_t> PostingCursor::block_frequencies(Field field) {
  const auto i = static_cast<size_t>(field);
  if (layout_.frequency_bits[i] == 0) return {};
  if ((decoded_frequencies_ & (1U << i)) == 0) DecodeFrequencies(i);
  return {frequencies_[i].data(), count_};
}

void PostingCursor::DecodePositions(Field field, std::vector<uint32_t>* positions) {
  positions->clear();
  if (count_ == 0) return;
  if (position_reader_ == nullptr) {
    position_reader_ = std::make_unique<PositionReader>(*storage_, entry_);
  }
  if (position_reader_->MoveTo(posting())) {
    const auto read = position_reader_->Read(field);
    positions->assign(read.begin(), read.end());
  }
  if (position_reader_->damaged()) {
    positions->clear();
    Damage();
  }
}

}  // namespace search::index
