// Spelling: what each partition knows of the words of a query, how that becomes one, and which other
// spellings of the whole query it makes likely.
//
//   words ─► FindSpellings, on each partition ─► MergeSpellings ─► ComposeSpellings ─► whole queries
//
// A spelling's score is that of a noisy channel: how likely documents are to say the words, alone and
// next to each other, less what the slips between them and the text typed cost.
//
// Source: [Kernighan90] (noisy channel); [Cucerzan04] (neighbouring words,
//   splitting, joining).
// Threads: pure functions.
// Units: scores in 1/1024 bit.
// Limits: kSpelledWordsMax words a query; kSpellingsPerWord other words for each, kSplitsPerWord ways to
//   cut it in two.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/suggest/phrase_text.h"
#include "index/suggest/suggestion_index.h"

namespace search::index {

inline constexpr size_t kSpelledWordsMax = 8;
inline constexpr size_t kSpellingsPerWord = 6;
inline constexpr size_t kSplitsPerWord = 2;

// A word of a query.
struct SpelledWord {
  std::string folded;
  bool may_change = true;
  // Whether only blanks stand between it and the word before, so that the two may be one.
  bool may_join = false;
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const SpelledWord&) const = default;
};

// The words of query text that spelling looks at. Those that are operators, names of fields, values of
// `site:`, exclusions, or have fewer than three letters may not change. Empty, so that nothing is
// proposed, if there are more than kSpelledWordsMax.
std::vector<SpelledWord> WordsToSpell(std::string_view query);

// Another word for one of the query.
struct OtherWord {
  std::string folded;
  std::string text;  // to be put into the query
  uint32_t document_count = 0;
  uint32_t distance = 0;

  bool operator==(const OtherWord&) const = default;
};

// Two words for one.
struct SplitWord {
  std::string left;
  std::string right;
  // Documents that say them next to each other; 0 if that is not known.
  uint32_t pair_count = 0;
  uint32_t left_count = 0;
  uint32_t right_count = 0;

  bool operator==(const SplitWord&) const = default;
};

struct WordSpellings {
  uint32_t document_count = 0;    // of the word as typed
  std::vector<OtherWord> others;  // best first
  std::vector<SplitWord> splits;  // best first
  uint32_t joined_count = 0;      // documents that say this word and the next as one

  bool operator==(const WordSpellings&) const = default;
};

// Documents that say a spelling of word `index` and one of the next word next to each other.
struct WordPair {
  uint32_t index = 0;
  std::string left;
  std::string right;
  uint32_t document_count = 0;

  bool operator==(const WordPair&) const = default;
};

struct Spellings {
  uint64_t collection_document_count = 0;
  std::vector<WordSpellings> words;  // of the query, in order
  std::vector<WordPair> pairs;       // ascending by index, left, right

  bool operator==(const Spellings&) const = default;
};

// What one partition knows.
Spellings FindSpellings(const SuggestionIndex& index, const std::vector<SpelledWord>& words);

// What two disjoint sets of partitions know together. Commutative and associative. Counts are the
// collection's on both sides, so they are joined, not added.
Spellings MergeSpellings(const Spellings& a, const Spellings& b,
                         const std::vector<SpelledWord>& words);

struct SpelledQuery {
  std::string text;
  int64_t score = 0;

  bool operator==(const SpelledQuery&) const = default;
};

// At most `count_max` other texts for `query`, likelier than itself, best first.
std::vector<SpelledQuery> ComposeSpellings(std::string_view query,
                                           const std::vector<SpelledWord>& words,
                                           const Spellings& spellings, size_t count_max);

// Whether a spelling that finds `other_total` documents is worth proposing beside a query that finds
// `total`: it finds something where that finds nothing, or far more.
bool IsWorthProposing(uint64_t total, uint64_t other_total);

}  // namespace search::index
