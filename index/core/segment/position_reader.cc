#include "index/core/segment/position_reader.h"

#include <algorithm>

#include "index/core/segment/bit_packing.h"

namespace search::index {
namespace {

// From so many numbers on, unpacking the whole group is cheaper than picking them out.
constexpr uint32_t kUnpackWholeMin = 24;

std::string_view Part(std::string_view whole, uint64_t offset, uint64_t size, bool* good) {
  if (offset > whole.size() || size > whole.size() - offset) {
    *good = false;
    return {};
  }
  return whole.substr(offset, size);
}

}  // namespace

PositionReader::PositionReader(const PostingStorage& storage, const TermEntry& entry)
    : entry_(entry) {
  bool good = entry.document_frequency > 0;
  postings_ = Part(storage.postings, entry.postings_offset, entry.postings_size, &good);
  positions_ = Part(storage.positions, entry.positions_offset, entry.positions_size, &good);
  if (entry.block_count() > 1) {
    const uint64_t all = storage.block_offsets.size();
    good = good && entry.first_block <= all && entry.block_count() <= all - entry.first_block;
    if (good) offsets_ = storage.block_offsets.data() + entry.first_block;
  }
  damaged_ = !good;
}

bool PositionReader::Damage() {
  damaged_ = true;
  block_ = UINT32_MAX;
  count_ = 0;
  index_ = 0;
  return false;
}

bool PositionReader::LoadBlock(uint32_t block) {
  const uint32_t block_count = entry_.block_count();
  if (damaged_ || block >= block_count) return false;
  const BlockOffsets begin = offsets_ == nullptr ? BlockOffsets() : offsets_[block];
  const uint32_t count = block + 1 == block_count
                             ? entry_.document_frequency - block * kPostingBlockSize
                             : kPostingBlockSize;
  PostingBlockLayout layout;
  if (begin.postings > postings_.size() || begin.positions > positions_.size() ||
      !ReadLayout(postings_.substr(begin.postings), count, &layout)) {
    return Damage();
  }
  sums_.fill(0);
  for (size_t f = 0; f < kFieldCount; ++f) {
    if (layout.frequency_bits[f] == 0) {
      frequencies_[f].fill(0);
      continue;
    }
    Unpack(layout.frequencies[f], count, layout.frequency_bits[f], frequencies_[f].data());
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i) {
      most = std::max(most, frequencies_[f][i]);
      sums_[i] += frequencies_[f][i];
    }
    if (most > kFieldTokensMax) return Damage();
  }
  gap_count_ = 0;
  for (uint32_t i = 0; i < count; ++i) gap_count_ += sums_[i];
  groups_.clear();
  next_group_ = positions_.data() + begin.positions;
  block_ = block;
  count_ = count;
  return true;
}

uint32_t PositionReader::FirstGap(size_t field) const {
  uint32_t first = 0;
  for (uint32_t i = 0; i < index_; ++i) first += sums_[i];
  for (size_t f = 0; f < field; ++f) first += frequencies_[f][index_];
  return first;
}

bool PositionReader::FindGroup(uint32_t group) {
  const char* const end = positions_.data() + positions_.size();
  while (groups_.size() <= group) {
    if (next_group_ >= end) return false;
    Group found;
    found.bits = uint32_t{static_cast<uint8_t>(*next_group_)};
    found.packed = next_group_ + 1;
    found.count = std::min(kPostingBlockSize,
                           gap_count_ - static_cast<uint32_t>(groups_.size()) * kPostingBlockSize);
    if (found.bits > 32) return false;
    const size_t size = PackedSize(found.count, found.bits);
    if (size > static_cast<size_t>(end - found.packed)) return false;
    next_group_ = found.packed + size;
    groups_.push_back(found);
  }
  return true;
}

bool PositionReader::AppendGaps(uint32_t begin, uint32_t end, uint32_t* position) {
  const uint32_t number = begin / kPostingBlockSize;
  if (!FindGroup(number)) return false;
  const Group& group = groups_[number];
  const uint32_t first = begin % kPostingBlockSize;
  const uint32_t count = end - begin;
  if (count >= kUnpackWholeMin) {
    Unpack(group.packed, group.count, group.bits, unpacked_.data());
    for (uint32_t i = first; i < first + count; ++i) {
      positions_read_.push_back(*position += unpacked_[i]);
    }
  } else {
    for (uint32_t i = first; i < first + count; ++i) {
      *position += UnpackOne(group.packed, group.count, group.bits, i);
      positions_read_.push_back(*position);
    }
  }
  return true;
}

std::span<const uint32_t> PositionReader::Read(Field field) {
  positions_read_.clear();
  if (count_ == 0) return {};
  const auto f = static_cast<size_t>(field);
  const uint32_t frequency = frequencies_[f][index_];
  if (frequency == 0) return {};
  uint32_t at = FirstGap(f);
  const uint32_t end = at + frequency;
  uint32_t position = 0;
  while (at < end) {
    const uint32_t group_end = (at / kPostingBlockSize + 1) * kPostingBlockSize;
    if (!AppendGaps(at, std::min(end, group_end), &position)) {
      Damage();
      positions_read_.clear();
      return {};
    }
    at = std::min(end, group_end);
  }
  return positions_read_;
}

}  // namespace search::index
