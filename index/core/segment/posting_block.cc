#include "index/core/segment/posting_block.h"

#include <algorithm>

#include "index/core/segment/bit_packing.h"

namespace search::index {

void EncodePostings(const PostingBlockInput& block, uint32_t first_possible, std::string* out) {
  std::array<uint32_t, kPostingBlockSize> gaps;
  uint32_t next = first_possible;
  for (uint32_t i = 0; i < block.count; ++i) {
    gaps[i] = block.ordinals[i] - next;
    next = block.ordinals[i] + 1;
  }
  const uint32_t ordinal_bits = BitWidthOf(gaps.data(), block.count);
  std::array<uint32_t, kFieldCount> frequency_bits;
  out->push_back(static_cast<char>(ordinal_bits));
  for (size_t field = 0; field < kFieldCount; ++field) {
    frequency_bits[field] = BitWidthOf(block.frequencies[field].data(), block.count);
    out->push_back(static_cast<char>(frequency_bits[field]));
  }
  Pack(gaps.data(), block.count, ordinal_bits, out);
  for (size_t field = 0; field < kFieldCount; ++field) {
    Pack(block.frequencies[field].data(), block.count, frequency_bits[field], out);
  }
}

void EncodePositions(const PostingBlockInput& block, std::string* out) {
  const auto for_each_group = [&block](const auto& encode) {
    for (size_t at = 0; at < block.position_gaps.size(); at += kPackedCountMax) {
      const uint32_t* group = block.position_gaps.data() + at;
      const auto count =
          static_cast<uint32_t>(std::min<size_t>(kPackedCountMax, block.position_gaps.size() - at));
      encode(group, count, BitWidthOf(group, count));
    }
  };
  for_each_group(
      [out](const uint32_t*, uint32_t, uint32_t bits) { out->push_back(static_cast<char>(bits)); });
  for_each_group([out](const uint32_t* group, uint32_t count, uint32_t bits) {
    Pack(group, count, bits, out);
  });
}

bool ReadLayout(std::string_view bytes, uint32_t count, PostingBlockLayout* layout) {
  if (bytes.size() < kPostingHeaderSize || count == 0 || count > kPostingBlockSize) return false;
  const auto bits_at = [&](size_t i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
  layout->ordinal_bits = bits_at(0);
  if (layout->ordinal_bits > 32) return false;
  size_t at = kPostingHeaderSize;
  layout->ordinals = bytes.data() + at;
  at += PackedSize(count, layout->ordinal_bits);
  for (size_t field = 0; field < kFieldCount; ++field) {
    layout->frequency_bits[field] = bits_at(1 + field);
    if (layout->frequency_bits[field] > 32) return false;
    layout->frequencies[field] = bytes.data() + at;
    at += PackedSize(count, layout->frequency_bits[field]);
  }
  return at <= bytes.size();
}

bool DecodeOrdinals(const PostingBlockLayout& layout, uint32_t count, uint32_t first_possible,
                    uint32_t document_count, uint32_t* ordinals) {
  Unpack(layout.ordinals, count, layout.ordinal_bits, ordinals);
  GapsToOrdinals(first_possible, count, ordinals);
  std::fill(ordinals + count, ordinals + kPostingBlockSize, UINT32_MAX);
  // The sum of that few gaps this small, starting below 2^28, cannot wrap around, so the ordinals
  // ascend.
  if (layout.ordinal_bits <= 24 && first_possible <= kSegmentDocumentsMax) {
    return ordinals[count - 1] < document_count;
  }
  uint32_t bad = ordinals[0] < first_possible ? 1 : 0;
  for (uint32_t i = 1; i < count; ++i) bad |= ordinals[i] <= ordinals[i - 1] ? 1U : 0U;
  return bad == 0 && ordinals[count - 1] < document_count;
}

}  // namespace search::index
