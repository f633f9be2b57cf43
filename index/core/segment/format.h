// Names, constants and fixed-size records of the segment and statistics files; format.md explains
// them.
//
// Threads: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "index/core/document.h"
#include "index/core/segment/section_file.h"

namespace search::index {

inline constexpr std::string_view kSegmentFileName = "segment";
inline constexpr std::string_view kStatisticsFileName = "statistics";
inline constexpr std::string_view kTierBoundsFileName = "tier_bounds";
inline constexpr FileKind kSegmentKind = {.magic = 0x4753504e, .version = 3};     // "NPSG"
inline constexpr FileKind kStatisticsKind = {.magic = 0x5453504e, .version = 2};  // "NPST"
inline constexpr FileKind kTierBoundsKind = {.magic = 0x4254504e, .version = 1};  // "NPTB"

inline constexpr FileKind kLiveDocumentsKind = {.magic = 0x564c504e, .version = 1};  // "NPLV"

// Maximum number of postings in a block.
inline constexpr uint32_t kPostingBlockSize = 128;
// Maximum number of terms in a block of the dictionary.
inline constexpr uint32_t kTermBlockSize = 16;
// Maximum number of documents in one segment.
inline constexpr uint32_t kSegmentDocumentsMax = uint32_t{1} << 28;
// First byte of the dictionary keys of site names; no word begins with it.
inline constexpr char kSiteKeyPrefix = '\x01';
// First byte of the dictionary keys of declared fields (index/core/document_fields.h).
inline constexpr char kFieldKeyPrefix = '\x02';
// True for the keys of words, which are scored.
inline bool IsWordKey(std::string_view key) {
  return !key.empty() && key[0] != kSiteKeyPrefix && key[0] != kFieldKeyPrefix;
}
// SegmentTotals::flags: the segment has no positions; its section of positions is empty, and
// phrases cannot be answered.
inline constexpr uint32_t kWithoutPositionsFlag = 1;
// SegmentTotals::flags: ordinals do not follow doc_ids; the section of the order is present.
inline constexpr uint32_t kReorderedFlag = 2;
// Maximum size of a key of the dictionary.
inline constexpr size_t kTermKeySizeMax = 128;

enum SegmentSection : uint32_t {
  kTotalsSection = 1,
  kDocIdsSection = 2,
  kLengthCodesSection = 3,
  kStaticRanksSection = 4,
  kTermHeadsSection = 5,
  kTermBlocksSection = 6,
  kTermBytesSection = 7,
  kBlockLastsSection = 8,
  kBlockOffsetsSection = 9,
  kPostingsSection = 10,
  kPositionsSection = 11,
  kDocIdOrderSection = 12,
};

enum StatisticsSection : uint32_t {
  kStatisticsTotalsSection = 1,
  kDocumentFrequenciesSection = 2,
};

enum TierBoundsSection : uint32_t {
  kTierBoundsTotalsSection = 1,
  kWordBoundsSection = 2,
};

enum LiveDocumentsSection : uint32_t {
  kLiveDocumentsTotalsSection = 1,
  kLiveDocumentsWordsSection = 2,
};

struct LiveDocumentsTotals {
  uint64_t segment_fingerprint = 0;
  uint32_t document_count = 0;  // number of documents in the segment
  uint32_t live_count = 0;
};
static_assert(sizeof(LiveDocumentsTotals) == 16);

struct SegmentTotals {
  uint64_t document_count = 0;
  uint64_t term_count = 0;
  uint64_t posting_count = 0;
  uint64_t token_count = 0;
  // Number of posting blocks of terms with more than kPostingBlockSize postings; only these are in
  // the arrays of blocks.
  uint64_t block_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
  float static_rank_max = 0;
  uint32_t flags = 0;
};
static_assert(sizeof(SegmentTotals) == 72);

struct StatisticsTotals {
  uint64_t segment_fingerprint = 0;
  uint64_t document_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
  // The ranking that the collection is searched with by default: k1, weight and b by field, static
  // rank weight.
  float k1 = 0;
  std::array<float, kFieldCount> weights = {};
  std::array<float, kFieldCount> bs = {};
  float static_rank_weight = 0;
};
static_assert(sizeof(StatisticsTotals) == 72);

struct TierBoundsTotals {
  uint64_t segment_fingerprint = 0;
  uint64_t document_count = 0;  // documents of the other tier
  float static_rank_max = 0;    // over these documents
  uint32_t reserved = 0;
};
static_assert(sizeof(TierBoundsTotals) == 24);

// Offsets of a block's parts from the start of the term's bytes.
struct BlockOffsets {
  uint32_t postings = 0;
  uint32_t positions = 0;
};

// Locates a term in the segment.
struct TermEntry {
  uint32_t ordinal = 0;
  uint32_t document_frequency = 0;  // number of documents in the segment that hold the term
  uint64_t postings_offset = 0;
  uint64_t postings_size = 0;
  uint64_t positions_offset = 0;
  uint64_t positions_size = 0;
  // Index of its first block in the arrays of blocks; only set for terms of more than one block.
  uint64_t first_block = 0;

  uint32_t block_count() const {
    return (document_frequency + kPostingBlockSize - 1) / kPostingBlockSize;
  }
};

// The posting lists of a segment: bytes, and flat arrays indexed by block.
struct PostingStorage {
  std::string_view postings;
  std::string_view positions;
  std::span<const uint32_t> block_lasts;  // ordinal of the block's last document
  std::span<const BlockOffsets> block_offsets;
};

}  // namespace search::index
