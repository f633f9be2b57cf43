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
inline constexpr FileKind kSuggestionsKind = {.magic = 0x5553504e, .version = 2};  // "NPSU"

enum SuggestionSection : uint32_t {
  kSuggestionTotalsSection = 1,
  kTextOffsetsSection = 2,
  kTextsSection = 3,
  kPhraseRecordsSection = 4,
  kEntryPhrasesSection = 5,
  kEntryStartsSection = 6,
  kEntryWeightsSection = 7,
};

struct SuggestionTotals {
  uint64_t phrase_count = 0;
  uint64_t entry_count = 0;
  // Number of documents of the whole collection.
  uint64_t collection_document_count = 0;
  uint64_t count_error_max = 0;
};
static_assert(sizeof(SuggestionTotals) == 32);

// Collection-wide, and equal in every partition that holds the phrase.
struct PhraseRecord {
  uint32_t document_count = 0;
  uint16_t weight = 0;
  uint16_t flags = 0;
};
static_assert(sizeof(PhraseRecord) == 8);

// Flags of a phrase: it is a document's title; it is a heading or the text of a link.
inline constexpr uint16_t kPhraseIsTitle = 1;
inline constexpr uint16_t kPhraseIsName = 2;

}  // namespace search::index
