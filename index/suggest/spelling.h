// Spelling correction: each partition returns candidates for the words of a query, these are
// merged, and the likeliest other spellings of the whole query are composed.
//
//   words ─► FindSpellings on each partition ─► MergeSpellings ─► ComposeSpellings ─► whole queries
//
// Scores follow the noisy-channel model: the log-likelihood of the words in documents, alone and
// next to each other, minus the cost of the typing errors between them and the typed text.
//
// Source: [Kernighan90] (noisy channel); [Cucerzan04] (neighbouring words, splitting, joining).
// Threads: pure functions.
// Units: scores in 1/1024 bit.
// Limits: kSpelledWordsMax words per query; kSpellingsPerWord other words for each, and
//   kSplitsPerWord ways to split it in two.

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
  // True if only spaces separate it from the previous word, so that the two may be one word.
  bool may_join = false;
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const SpelledWord&) const = default;
};

// The words of query text that spelling correction considers. Operators, names of fields, values of
// `site:`, exclusions and words of fewer than three letters may not change. Empty, so that nothing
// is proposed, if there are more than kSpelledWordsMax.
std::vector<SpelledWord> WordsToSpell(std::string_view query);

// A replacement for one word of the query.
struct OtherWord {
  std::string folded;
  std::string text;  // replacement text for the query
  uint32_t document_count = 0;
  uint32_t distance = 0;

  bool operator==(const OtherWord&) const = default;
};

// Two words in place of one.
struct SplitWord {
  std::string left;
  std::string right;
  // Documents in which both are adjacent; 0 if unknown.
  uint32_t pair_count = 0;
  uint32_t left_count = 0;
  uint32_t right_count = 0;

  bool operator==(const SplitWord&) const = default;
};

struct WordSpellings {
  uint32_t document_count = 0;    // documents that contain the word as typed
  std::vector<OtherWord> others;  // best first
  std::vector<SplitWord> splits;  // best first
  uint32_t joined_count = 0;      // documents that contain this word and the next one joined

  bool operator==(const WordSpellings&) const = default;
};

// Documents that contain a spelling of word `index` followed by a spelling of the next word.
struct WordPair {
  uint32_t index = 0;
  std::string left;
  std::string right;
  uint32_t document_count = 0;

  bool operator==(const WordPair&) const = default;
};

struct Spellings {
  uint64_t collection_document_count = 0;
  std::vector<WordSpellings> words;  // words of the query, in order
  std::vector<WordPair> pairs;       // ascending by index, left, right

  bool operator==(const Spellings&) const = default;
};

// The candidates of one partition.
Spellings FindSpellings(const SuggestionIndex& index, const std::vector<SpelledWord>& words);

// Merges the candidates of two disjoint sets of partitions. Commutative and associative. Counts are
// collection-wide on both sides, so they are merged, not added.
Spellings MergeSpellings(const Spellings& a, const Spellings& b,
                         const std::vector<SpelledWord>& words);

struct SpelledQuery {
  std::string text;
  int64_t score = 0;

  bool operator==(const SpelledQuery&) const = default;
};

// Returns at most `count_max` other texts for `query` that are likelier than the query, best first.
std::vector<SpelledQuery> ComposeSpellings(std::string_view query,
                                           const std::vector<SpelledWord>& words,
                                           const Spellings& spellings, size_t count_max);

// True if a spelling that matches `other_total` documents is worth proposing for a query that
// matches `total`: it matches where the query does not, or matches far more.
bool IsWorthProposing(uint64_t total, uint64_t other_total);

}  // namespace search::index
