// Encoding of one block of up to 128 postings and of its positions.
//
// Format: format.md.
// Threads: pure functions over plain values.
// Errors: decoders return false for bytes that no encoder writes, and never read past `bytes`.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/core/segment/format.h"

namespace search::index {

// Postings to encode as a block.
struct PostingBlockInput {
  uint32_t count = 0;
  std::array<uint32_t, kPostingBlockSize> ordinals;
  std::array<std::array<uint32_t, kPostingBlockSize>, kFieldCount> frequencies;
  // Ordered by posting, then by field: a field's first position, then gaps.
  std::vector<uint32_t> position_gaps;
};

// `first_possible`: one more than the last ordinal of the previous block, 0 for a term's first
// block.
void EncodePostings(const PostingBlockInput& block, uint32_t first_possible, std::string* out);
void EncodePositions(const PostingBlockInput& block, std::string* out);

inline constexpr size_t kPostingHeaderSize = 1 + kFieldCount;

// Locations of the parts of an encoded block.
struct PostingBlockLayout {
  uint32_t ordinal_bits = 0;
  std::array<uint32_t, kFieldCount> frequency_bits = {};
  const char* ordinals = nullptr;
  std::array<const char*, kFieldCount> frequencies = {};
};

bool ReadLayout(std::string_view bytes, uint32_t count, PostingBlockLayout* layout);

// Writes 128 ordinals; those from `count` on are UINT32_MAX. False unless the ordinals ascend and
// are below `document_count`.
bool DecodeOrdinals(const PostingBlockLayout& layout, uint32_t count, uint32_t first_possible,
                    uint32_t document_count, uint32_t* ordinals);

}  // namespace search::index
