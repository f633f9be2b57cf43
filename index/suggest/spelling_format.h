// Names and fixed-size records of the dictionary of a collection; format.md explains them.
//
// Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "index/core/segment/section_file.h"

namespace search::index {

inline constexpr std::string_view kDictionaryFileName = "spelling";
inline constexpr FileKind kDictionaryKind = {.magic = 0x4453504e, .version = 1};  // "NPSD"

// Number of partitions with the dictionary, the first ones of the collection: any one of them
// spells for the whole collection, the others are for when it does not answer.
inline constexpr uint32_t kDictionaryCopies = 2;

enum DictionarySection : uint32_t {
  kDictionaryTotalsSection = 1,
  kDictionaryOffsetsSection = 2,
  kDictionaryTextsSection = 3,
  kDictionaryCountsSection = 4,
  kShownWordsSection = 5,
  kShownOffsetsSection = 6,
  kShownTextsSection = 7,
  kDeletionBeginsSection = 8,
  kDeletionEntriesSection = 9,
  kPairBeginsSection = 10,
  kPairRightsSection = 11,
  kPairCountsSection = 12,
};

struct DictionaryTotals {
  uint64_t word_count = 0;
  uint64_t pair_count = 0;
  // Number of documents of the whole collection.
  uint64_t collection_document_count = 0;
  uint64_t count_error_max = 0;
};
static_assert(sizeof(DictionaryTotals) == 32);

// A deletion entry is the number of a word and, above it, bits of the key that led to it.
inline constexpr uint32_t kDictionaryWordBits = 20;
inline constexpr size_t kDictionaryWordsMax = size_t{1} << kDictionaryWordBits;
// Maximum number of characters of a word in the dictionary.
inline constexpr size_t kDictionaryWordMax = 40;
// Maximum size of a word in bytes, and with its accents as documents write it, composed or not.
inline constexpr size_t kDictionaryWordSizeMax = 4 * kDictionaryWordMax;
inline constexpr size_t kShownWordSizeMax = 4096;
// A count is twice the number of documents, plus one if the word may be what another one means.
inline constexpr uint32_t kDictionaryDocumentsMax = UINT32_MAX >> 1;

// The bucket of a key among 2^bits, and the entry of a word under that key.
inline size_t DeletionBucket(uint64_t key, uint32_t bits) {
  return bits == 0 ? 0 : static_cast<size_t>(key >> (64 - bits));
}
inline uint32_t DeletionTag(uint64_t key) {
  return static_cast<uint32_t>(key) & ~static_cast<uint32_t>(kDictionaryWordsMax - 1);
}

}  // namespace search::index
