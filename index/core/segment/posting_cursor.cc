#include "index/core/segment/posting_cursor.h"

#include <algorithm>

#include "index/core/segment/bit_packing.h"

namespace search::index {

namespace {

// How many of the ascending numbers, of which the last is not, are smaller than `target`. Compares in
// three levels without branches: a binary search guesses each of its seven branches wrong half of
// the time, or waits for each of its loads.
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
    : entry_(entry),
      document_count_(document_count),
      last_possible_(document_count == 0 ? 0 : document_count - 1) {
  const auto part = [](std::string_view whole, uint64_t offset, uint64_t size, bool* good) {
    if (offset > whole.size() || size > whole.size() - offset) *good = false;
    return *good ? whole.substr(offset, size) : std::string_view();
  };
  bool good = entry.document_frequency > 0 && entry.document_frequency <= document_count;
  postings_ = part(storage.postings, entry.postings_offset, entry.postings_size, &good);
  positions_ = part(storage.positions, entry.positions_offset, entry.positions_size, &good);
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
  count_ = is_last ? entry_.document_frequency - block * kPostingBlockSize : kPostingBlockSize;
  const uint32_t first_possible = block == 0 ? 0 : lasts_[block - 1] + 1;
  if (begin > postings_.size() || !ReadLayout(postings_.substr(begin), count_, &layout_) ||
      !DecodeOrdinals(layout_, count_, first_possible, document_count_, ordinals_.data()) ||
      (block_count_ > 1 && ordinals_[count_ - 1] != lasts_[block])) {
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
    if (target > ordinals_[count_ - 1]) return Exhaust();  // only in a list of one block
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

bool PostingCursor::FindPositionStarts() {
  if (position_state_ == nullptr) position_state_ = std::make_unique<PositionState>();
  PositionState& state = *position_state_;
  if (state.block == block_) return true;
  std::fill(state.starts.begin(), state.starts.end(), 0);
  for (size_t f = 0; f < kFieldCount; ++f) {
    const auto frequencies = block_frequencies(static_cast<Field>(f));
    for (size_t i = 0; i < frequencies.size(); ++i) {
      if (frequencies[i] > kFieldTokensMax) return false;
      state.starts[i + 1] += frequencies[i];
    }
  }
  for (uint32_t i = 0; i < count_; ++i) state.starts[i + 1] += state.starts[i];
  state.block = block_;
  state.group = UINT32_MAX;
  const uint32_t begin = block_count_ == 1 ? 0 : offsets_[block_].positions;
  if (begin > positions_.size()) return false;
  state.group_at = positions_.data() + begin;
  return true;
}

bool PostingCursor::LoadPositionGroup(uint32_t group) {
  PositionState& state = *position_state_;
  if (state.group == group) return true;
  if (state.group != UINT32_MAX && group < state.group) {
    const uint32_t begin = block_count_ == 1 ? 0 : offsets_[block_].positions;
    state.group = UINT32_MAX;
    state.group_at = positions_.data() + begin;
  }
  const uint32_t gap_count = state.starts[count_];
  const char* end = positions_.data() + positions_.size();
  for (uint32_t g = state.group + 1; g <= group; ++g) {  // UINT32_MAX + 1 is 0
    if (state.group_at >= end) return false;
    const auto bits = uint32_t{static_cast<uint8_t>(*state.group_at++)};
    state.group_count = std::min(kPostingBlockSize, gap_count - g * kPostingBlockSize);
    const size_t size = PackedSize(state.group_count, bits);
    if (bits > 32 || size > static_cast<size_t>(end - state.group_at)) return false;
    if (g == group) Unpack(state.group_at, state.group_count, bits, state.gaps.data());
    state.group_at += size;
  }
  state.group = group;
  return true;
}

void PostingCursor::DecodePositions(Field field, std::vector<uint32_t>* positions) {
  positions->clear();
  if (count_ == 0) return;
  if (!FindPositionStarts()) {
    Damage();
    return;
  }
  const auto f = static_cast<size_t>(field);
  uint32_t at = position_state_->starts[index_];
  for (size_t i = 0; i < f; ++i) at += frequency(static_cast<Field>(i));
  const uint32_t end = at + frequency(field);
  uint32_t position = 0;
  for (; at < end; ++at) {
    if (!LoadPositionGroup(at / kPostingBlockSize)) {
      positions->clear();
      Damage();
      return;
    }
    position += position_state_->gaps[at % kPostingBlockSize];
    positions->push_back(position);
  }
}

}  // namespace search::index
