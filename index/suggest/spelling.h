// Spelling correction: collects from each partition the counts of a query's words and of similar
// words, merges them, and composes other likely spellings of the whole query.
//
//   words ─► FindSpellings on each partition ─► MergeSpellings ─► ComposeSpellings ─► whole queries
//
// The score of a spelling is that of a noisy channel: the likelihood that documents hold the words,
// alone and next to each other, minus the cost of the edits between them and the typed text.
//
// Source: [Kernighan90] (noisy channel); [Cucerzan04] (neighbouring
//   words, splitting, joining).
// Threads: pure functions.
// Units: scores in 1/1024 bit.
// Limits: kSpelledWordsMax words per query; kSpellingsPerWord other words for each, kSplitsPerWord
//   ways to split it in two.
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
  // True if only blanks separate it from the previous word, so that the two may be joined.
  bool may_join = false;
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const SpelledWord&) const = default;
};

// The words of query text that spelling considers. Operators, names of fields, values of `site:`,
// exclusions, and words of fewer than three letters may not change. Empty, so that nothing is
// proposed, if there are more than kSpelledWordsMax.
std::vector<SpelledWord> WordsToSpell(std::string_view query);

// A replacement for one word of the query.
struct OtherWord {
  std::string folded;
  std::string text;  // text to insert into the query
  uint32_t document_count = 0;
  uint32_t distance = 0;

  bool operator==(const OtherWord&) const = default;
};

// Two words in place of one.
struct SplitWord {
  std::string left;
  std::string right;
  // Number of documents that hold them next to each other; 0 if unknown.
  uint32_t pair_count = 0;
  uint32_t left_count = 0;
  uint32_t right_count = 0;

  bool operator==(const SplitWord&) const = default;
};

struct WordSpellings {
  uint32_t document_count = 0;    // documents with the word as typed
  std::vector<OtherWord> others;  // best first
  std::vector<SplitWord> splits;  // best first
  uint32_t joined_count = 0;      // documents that hold this word and the next joined as one

  bool operator==(const WordSpellings&) const = default;
};

// Number of documents that hold a spelling of word `index` directly followed by one of the next
// word.
struct WordPair {
  uint32_t index = 0;
  std::string left;
  std::string right;
  uint32_t document_count = 0;

  bool operator==(const WordPair&) const = default;
};

struct Spellings {
  uint64_t collection_document_count = 0;
  std::vector<WordSpellings> words;  // one per word of the query, in order
  std::vector<WordPair> pairs;       // ascending by index, left, right

  bool operator==(const Spellings&) const = default;
};

// The spellings that one partition knows.
Spellings FindSpellings(const SuggestionIndex& index, const std::vector<SpelledWord>& words);

// Merges the spellings of two disjoint sets of partitions. Commutative and associative. Counts are
// collection-wide on both sides, so the merge takes their union and does not add them.
Spellings MergeSpellings(const Spellings& a, const Spellings& b,
                         const std::vector<SpelledWord>& words);

struct SpelledQuery {
  std::string text;
  int64_t score = 0;

  bool operator==(const SpelledQuery&) const = default;
};

// At most `count_max` other texts for `query` that are likelier than the query itself, best first.
std::vector<SpelledQuery> ComposeSpellings(std::string_view query,
                                           const std::vector<SpelledWord>& words,
                                           const Spellings& spellings, size_t count_max);

// True if a spelling that finds `other_total` documents is worth proposing for a query that finds
// `total`: it finds something where the query finds nothing, or far more.
bool IsWorthProposing(uint64_t total, uint64_t other_total);

}  // namespace search::index
