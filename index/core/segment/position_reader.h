// Reads the positions of any posting of a term, in any order, without decoding documents: of a
// posting block it unpacks frequencies, of the packed positions no more than is asked for.
//
// Source: none. Format: format.md.
// Layer: index/core, segment.
// Threads: thread-compatible.
// Errors: damaged bytes make it `damaged`; it then gives no positions. Never reads outside the
//   term's bytes.
// Limits: 2 KiB, and 8 bytes for each 128 positions of a block.

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

  // Stands at the posting with this number of the whole list. False if there is none, or damage.
  bool MoveTo(uint32_t posting) {
    const uint32_t block = posting / kPostingBlockSize;
    if (block != block_ && !LoadBlock(block)) return false;
    index_ = posting % kPostingBlockSize;
    return index_ < count_;
  }

  // Of the present posting.
  uint32_t frequency(Field field) const { return frequencies_[static_cast<size_t>(field)][index_]; }
  // Ascending positions in the field, valid until the next call. Empty at damage.
  std::span<const uint32_t> Read(Field field);

 private:
  bool LoadBlock(uint32_t block);
  bool Damage();
  // Number of the field's first position gap in the block.
  uint32_t FirstGap(size_t field) const;
  // Adds the gaps with these numbers, all of one group, to positions_.
  bool AppendGaps(uint32_t begin, uint32_t end, uint32_t* position);
  // Finds where the groups up to this one lie.
  bool FindGroup(uint32_t group);

  struct Group {
    const char* packed = nullptr;
    uint32_t bits = 0;
    uint32_t count = 0;
  };

  const TermEntry entry_;
  std::string_view postings_;   // the term's
  std::string_view positions_;  // the term's
  const BlockOffsets* offsets_ = nullptr;
  bool damaged_ = false;

  uint32_t block_ = UINT32_MAX;
  uint32_t index_ = 0;
  uint32_t count_ = 0;      // postings in the block
  uint32_t gap_count_ = 0;  // positions of all of them
  std::array<std::array<uint32_t, kPostingBlockSize>, kFieldCount> frequencies_;
  std::array<uint32_t, kPostingBlockSize> sums_;  // over the fields, by posting
  std::vector<Group> groups_;                     // those found so far
  const char* next_group_ = nullptr;
  std::vector<uint32_t> positions_read_;
  std::array<uint32_t, kPostingBlockSize> unpacked_;
};

}  // namespace search::index
