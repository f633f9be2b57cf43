// Reads the positions of any posting of a term, in any order, without decoding ordinals. Unpacks
// the frequencies of a posting block, but only the requested part of its packed positions.
//
// Format: format.md.
// Threads: thread-compatible.
// Errors: damaged bytes set damaged() and yield no positions. Never reads outside the term's bytes.
// Limits: 4 KiB plus 4 bytes per position of the posting read.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/core/segment/format.h"
#include "index/core/segment/posting_block.h"

namespace search::index {

class PositionReader {
 public:
  PositionReader(const PostingStorage& storage, const TermEntry& entry);

  bool damaged() const { return damaged_; }

  // Moves to the posting with this index in the whole list. False if there is none or it is
  // damaged.
  bool MoveTo(uint32_t posting) {
    const uint32_t block = posting / kPostingBlockSize;
    if (block != block_ && !LoadBlock(block)) return false;
    index_ = posting % kPostingBlockSize;
    return index_ < count_;
  }

  // Prefetches what MoveTo and Read of the posting access, one indirection per step: call it for
  // many postings with step 0, then for the same with step 1, then 2.
  void Prefetch(uint32_t posting, int step);

  // Frequency of the current posting in `field`.
  uint32_t frequency(Field field) const {
    const auto f = static_cast<size_t>(field);
    return (present_ >> f & 1) == 0 ? 0 : frequencies_[f][index_];
  }
  // Ascending positions in the field, valid until the next call. Empty if damaged.
  std::span<const uint32_t> Read(Field field);

 private:
  bool LoadBlock(uint32_t block);
  bool Damage();
  BlockOffsets OffsetsOf(uint32_t block) const {
    return offsets_ == nullptr ? BlockOffsets() : offsets_[block];
  }
  // Index of the field's first position gap in the block.
  uint32_t FirstGap(size_t field);
  // Locates the groups of gaps; false if damaged. Uses what LoadBlock has checked: the table of
  // offsets may change under way.
  bool FindGroups();
  // Unpacks the gaps with these indices, all in one group.
  bool ReadGaps(uint32_t first, uint32_t count, uint32_t* gaps);

  const TermEntry entry_;
  std::string_view postings_;   // bytes of the term
  std::string_view positions_;  // bytes of the term
  const BlockOffsets* offsets_ = nullptr;
  bool damaged_ = false;

  // last block prefetched, by step
  std::array<uint32_t, 3> prefetched_ = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

  uint32_t block_ = UINT32_MAX;
  uint32_t positions_begin_ = 0;  // of the block; at most the size of positions_
  uint32_t index_ = 0;
  uint32_t count_ = 0;    // postings in the block
  uint32_t present_ = 0;  // a bit for each field that has frequencies in the block
  std::array<std::array<uint32_t, kPostingBlockSize>, kFieldCount> frequencies_;
  // Total frequencies over all fields, by posting: those of the only field, or sums_.
  const std::array<uint32_t, kPostingBlockSize>* totals_ = &sums_;
  std::array<uint32_t, kPostingBlockSize> sums_;

  uint32_t summed_ = 0;  // number of postings of the block whose totals are in gaps_before_
  uint32_t gaps_before_ = 0;
  uint32_t gap_count_ = 0;  // number of positions of all postings of the block
  uint32_t group_count_ = 0;
  const char* group_bits_ = nullptr;  // a byte for each group
  uint32_t group_ = 0;                // group to which packed_ points
  const char* packed_ = nullptr;      // nullptr: not located yet
  // A group that is read from again is unpacked whole.
  uint32_t read_group_ = UINT32_MAX;      // the last one read from
  uint32_t unpacked_group_ = UINT32_MAX;  // the one in unpacked_
  std::array<uint32_t, kPostingBlockSize> unpacked_;
  std::vector<uint32_t> read_;
};

}  // namespace search::index
