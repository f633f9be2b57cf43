// Names and fixed-size records of the file of suggestions; format.md explains them.
//
// Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "index/core/segment/section_file.h"

namespace search::index {

inline constexpr std::string_view kSuggestionsFileName = "suggest";
inline constexpr FileKind kSuggestionsKind = {.magic = 0x5553504e, .version = 1};  // "NPSU"

enum SuggestionSection : uint32_t {
  kSuggestionTotalsSection = 1,
  kTextOffsetsSection = 2,
  kTextsSection = 3,
  kPhraseRecordsSection = 4,
  kEntryPhrasesSection = 5,
  kEntryStartsSection = 6,
  kEntryWeightsSection = 7,
  kWordPhrasesSection = 8,
  kWordSignaturesSection = 9,
  kWordOffsetsSection = 10,
  kWordTextsSection = 11,
};

struct SuggestionTotals {
  uint64_t phrase_count = 0;
  uint64_t entry_count = 0;
  uint64_t word_count = 0;
  // Number of documents of the whole collection.
  uint64_t collection_document_count = 0;
  uint64_t count_error_max = 0;
};
static_assert(sizeof(SuggestionTotals) == 40);

// Collection-wide, and equal in every partition that holds the phrase.
struct PhraseRecord {
  uint32_t document_count = 0;
  uint16_t weight = 0;
  uint16_t flags = 0;
};
static_assert(sizeof(PhraseRecord) == 8);

// Flags of a phrase: it is a document's title; it is a word of the vocabulary.
inline constexpr uint16_t kPhraseIsTitle = 1;
inline constexpr uint16_t kPhraseIsWord = 2;

// Maximum number of characters of a word in the vocabulary.
inline constexpr size_t kVocabularyWordMax = 40;

}  // namespace search::index
