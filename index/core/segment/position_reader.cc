#include "index/core/segment/position_reader.h"

#include <algorithm>
#include <bit>

#include "index/core/segment/bit_packing.h"

namespace search::index {
namespace {

constexpr uint32_t kFrequencyBitsMax = std::bit_width(kFieldTokensMax);

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

void PositionReader::Prefetch(uint32_t posting, int step) {
  const uint32_t block = posting / kPostingBlockSize;
  if (damaged_ || block >= entry_.block_count()) return;
  if (prefetched_[static_cast<size_t>(step)] == block) return;
  prefetched_[static_cast<size_t>(step)] = block;
  if (step == 0) {
    if (offsets_ != nullptr) __builtin_prefetch(&offsets_[block]);
    return;
  }
  const BlockOffsets begin = OffsetsOf(block);
  const char* const header = postings_.data() + std::min<size_t>(begin.postings, postings_.size());
  if (step == 1) {
    __builtin_prefetch(header);
    __builtin_prefetch(header + 64);
    __builtin_prefetch(positions_.data() + std::min<size_t>(begin.positions, positions_.size()));
    return;
  }
  // Frequencies follow the ordinals. The offset of the posting's positions is estimated from its
  // index in the block.
  if (header == postings_.data() + postings_.size()) return;
  const char* const frequencies = header + kPostingHeaderSize +
                                  PackedSize(kPostingBlockSize, static_cast<uint8_t>(*header) & 63);
  __builtin_prefetch(frequencies);
  __builtin_prefetch(frequencies + 64);
  const bool is_last = block + 1 == entry_.block_count();
  const size_t end = is_last ? positions_.size() : OffsetsOf(block + 1).positions;
  const size_t size = end > begin.positions ? end - begin.positions : 0;
  const size_t at = begin.positions + size * (posting % kPostingBlockSize) / kPostingBlockSize;
  __builtin_prefetch(positions_.data() + std::min(at, positions_.size()));
}

bool PositionReader::LoadBlock(uint32_t block) {
  const uint32_t block_count = entry_.block_count();
  if (damaged_ || block >= block_count) return false;
  const BlockOffsets begin = OffsetsOf(block);
  const uint32_t count = block + 1 == block_count
                             ? entry_.document_frequency - block * kPostingBlockSize
                             : kPostingBlockSize;
  PostingBlockLayout layout;
  if (begin.postings > postings_.size() || begin.positions > positions_.size() ||
      !ReadLayout(postings_.substr(begin.postings), count, &layout)) {
    return Damage();
  }
  present_ = 0;
  for (size_t f = 0; f < kFieldCount; ++f) {
    if (layout.frequency_bits[f] == 0) continue;
    if (layout.frequency_bits[f] > kFrequencyBitsMax) return Damage();
    Unpack(layout.frequencies[f], count, layout.frequency_bits[f], frequencies_[f].data());
    if (present_ == 0) {
      totals_ = &frequencies_[f];
    } else {
      for (uint32_t i = 0; i < count; ++i) sums_[i] = (*totals_)[i] + frequencies_[f][i];
      totals_ = &sums_;
    }
    present_ |= 1U << f;
  }
  packed_ = nullptr;
  read_group_ = UINT32_MAX;
  unpacked_group_ = UINT32_MAX;
  summed_ = 0;
  gaps_before_ = 0;
  block_ = block;
  positions_begin_ = begin.positions;
  count_ = count;
  return true;
}

uint32_t PositionReader::FirstGap(size_t field) {
  if (summed_ > index_) summed_ = gaps_before_ = 0;
  for (; summed_ < index_; ++summed_) gaps_before_ += (*totals_)[summed_];
  uint32_t first = gaps_before_;
  for (size_t f = 0; f < field; ++f) first += frequency(static_cast<Field>(f));
  return first;
}

bool PositionReader::FindGroups() {
  if (packed_ != nullptr) return true;
  gap_count_ = 0;
  for (uint32_t i = 0; i < count_; ++i) gap_count_ += (*totals_)[i];
  group_count_ = (gap_count_ + kPackedCountMax - 1) / kPackedCountMax;
  const std::string_view bytes = positions_.substr(positions_begin_);
  if (group_count_ > bytes.size()) return false;
  group_bits_ = bytes.data();
  group_ = 0;
  packed_ = group_bits_ + group_count_;
  return true;
}

bool PositionReader::ReadGaps(uint32_t first, uint32_t count, uint32_t* gaps) {
  const uint32_t group = first / kPackedCountMax;
  if (group == unpacked_group_) {
    std::copy_n(&unpacked_[first % kPackedCountMax], count, gaps);
    return true;
  }
  if (group >= group_count_) return false;
  if (group < group_) {
    group_ = 0;
    packed_ = group_bits_ + group_count_;
  }
  size_t skipped = 0;
  for (; group_ < group; ++group_) {
    skipped += PackedSize(kPackedCountMax, static_cast<uint8_t>(group_bits_[group_]));
  }
  const auto left = static_cast<size_t>(positions_.data() + positions_.size() - packed_);
  const auto bits = uint32_t{static_cast<uint8_t>(group_bits_[group])};
  const uint32_t in_group = std::min(kPackedCountMax, gap_count_ - group * kPackedCountMax);
  if (bits > 32 || skipped > left || PackedSize(in_group, bits) > left - skipped) return false;
  packed_ += skipped;
  if (group == read_group_) {
    Unpack(packed_, in_group, bits, unpacked_.data());
    unpacked_group_ = group;
    std::copy_n(&unpacked_[first % kPackedCountMax], count, gaps);
    return true;
  }
  read_group_ = group;
  UnpackSome(packed_, in_group, bits, first % kPackedCountMax, count, gaps);
  return true;
}

std::span<const uint32_t> PositionReader::Read(Field field) {
  if (count_ == 0) return {};
  const uint32_t frequency = this->frequency(field);
  if (frequency == 0) return {};
  if (!FindGroups()) {
    Damage();
    return {};
  }
  const uint32_t first = FirstGap(static_cast<size_t>(field));
  read_.resize(frequency);
  for (uint32_t done = 0; done < frequency;) {
    const uint32_t at = first + done;
    const uint32_t count = std::min(frequency - done, kPackedCountMax - at % kPackedCountMax);
    if (!ReadGaps(at, count, &read_[done])) {
      Damage();
      return {};
    }
    done += count;
  }
  for (uint32_t i = 1; i < frequency; ++i) read_[i] += read_[i - 1];
  return read_;
}

}  // namespace search::index
