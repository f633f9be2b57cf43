// Iterates over one term's postings, decoding a block at a time; bounds-checked against the file.
//
// Format: format.md.
// Threads: thread-compatible. The segment must outlive the cursor.
// Errors: damaged bytes end the list and set damaged(); nothing outside the file is read.
// Units: ordinals of documents in the segment; kNoDocument past the end.
// Limits: 3 KiB each.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index/core/document.h"
#include "index/core/segment/format.h"
#include "index/core/segment/position_reader.h"
#include "index/core/segment/posting_block.h"

namespace search::index {

inline constexpr uint32_t kNoDocument = UINT32_MAX;

class PostingCursor {
 public:
  // Starts before the first posting; call Seek or LoadBlock first.
  PostingCursor(const PostingStorage& storage, const TermEntry& entry, uint32_t document_count);

  const TermEntry& entry() const { return entry_; }
  bool damaged() const { return damaged_; }
  // False until the first Seek, Next or LoadBlock.
  bool started() const { return started_; }
  uint32_t ordinal() const { return ordinal_; }

  // Moves to the first posting at or after `target` and returns its ordinal. Never moves back: does
  // not move if the current posting is already at or after `target`.
  uint32_t Seek(uint32_t target) {
    if (ordinal_ != kNoDocument && started_ && target <= ordinal_) return ordinal_;
    return SeekForward(target);
  }
  uint32_t Next() {
    if (started_ && index_ + 1 < count_) {
      ordinal_ = ordinals_[++index_];
      return ordinal_;
    }
    return NextBlock();
  }

  // Frequency of the current posting in `field`.
  uint32_t frequency(Field field) {
    const auto i = static_cast<size_t>(field);
    if ((decoded_frequencies_ & (1U << i)) == 0) DecodeFrequencies(i);
    return frequencies_[i][index_];
  }
  // Ascending positions in the field, replacing *positions.
  void DecodePositions(Field field, std::vector<uint32_t>* positions);

  // Block metadata, available without decoding. The only block of a single-block term extends to
  // the end of the segment.
  uint32_t block_count() const { return block_count_; }
  uint32_t block_last(uint32_t block) const {
    return block_count_ == 1 ? last_possible_ : lasts_[block];
  }
  // First block from `from` on that may hold a posting at or after `target`; block_count() if none.
  uint32_t FindBlock(uint32_t target, uint32_t from) const;
  uint32_t block() const { return block_; }
  // True if Seek(target) needs no further block.
  bool IsInBlock(uint32_t target) const { return count_ > 0 && target <= ordinals_[count_ - 1]; }

  // Decodes the ordinals of block b and moves to its first posting, for block-at-a-time evaluation.
  // False if the block is damaged.
  bool LoadBlock(uint32_t block);
  uint32_t index() const { return index_; }  // index of the current posting in its block
  // Number of the present posting in the whole list.
  uint32_t posting() const { return block_ * kPostingBlockSize + index_; }
  // Moves to the posting with this index, or to the next block if the block is exhausted.
  void MoveTo(uint32_t index) {
    if (index >= count_) {
      NextBlock();
    } else {
      index_ = index;
      ordinal_ = ordinals_[index];
    }
  }
  std::span<const uint32_t> block_ordinals() const { return {ordinals_.data(), count_}; }
  // Frequencies of all postings of the block; empty if all are 0.
  std::span<const uint32_t> block_frequencies(Field field);

 private:
  uint32_t SeekForward(uint32_t target);
  uint32_t NextBlock();
  uint32_t Exhaust();
  uint32_t Damage();
  void DecodeFrequencies(size_t field);

  const PostingStorage* storage_;
  TermEntry entry_;
  std::string_view postings_;  // bytes of the term
  const uint32_t* lasts_ = nullptr;
  const BlockOffsets* offsets_ = nullptr;
  uint32_t block_count_ = 0;
  uint32_t document_count_;
  uint32_t last_possible_;

  bool started_ = false;
  bool damaged_ = false;
  uint32_t ordinal_ = kNoDocument;
  uint32_t block_ = 0;
  uint32_t index_ = 0;
  uint32_t count_ = 0;
  uint32_t decoded_frequencies_ = 0;  // one bit per field
  PostingBlockLayout layout_;
  alignas(64) std::array<uint32_t, kPostingBlockSize> ordinals_;
  std::array<std::array<uint32_t, kPostingBlockSize>, kFieldCount> frequencies_;

  std::unique_ptr<PositionReader> position_reader_;  // created when positions are first read
};

}  // namespace search::index
