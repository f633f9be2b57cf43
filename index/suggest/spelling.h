// Spelling correction: the dictionary gives candidates for the doubtful words of a query, and the
// likeliest other spelling of the whole query is composed of them.
//
//   query ─► WordsToSpell ─► FindSpellings, where the dictionary is ─► ComposeSpellings ─► queries
//
// Scores follow the noisy-channel model: the log-likelihood of the words in documents, alone and
// next to each other, minus the cost of the typing errors between them and the typed text.
//
// Never changed: digits and signs of a word (`pep8` is no `pep9`, `c++` no `c`); accents that were
// typed, into a word without; the first letter of a word of five to seven characters by one of two
// edits. A word that documents hold is changed by one edit only, from six characters on.
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
#include "index/suggest/spelling_dictionary.h"

namespace search::index {

inline constexpr size_t kSpelledWordsMax = 32;
inline constexpr size_t kSpellingsPerWord = 6;
inline constexpr size_t kSplitsPerWord = 2;

// A word of a query.
struct SpelledWord {
  std::string folded;
  bool may_change = true;
  // True if only spaces separate it from the previous word, so that the two may be one word.
  bool may_join = false;
  // True if it was typed with accents that folding removes.
  bool is_accented = false;
  // True if documents are known to hold it, even if the dictionary does not.
  bool is_known = false;
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const SpelledWord&) const = default;
};

// The words of query text that spelling correction considers. Operators, names of fields, values of
// `site:`, exclusions, prefixes (`vec*`) and words of fewer than three letters may neither change
// nor be joined. Callers clear `may_change` of further words that they do not doubt. Empty, so that
// nothing is proposed, if there are more than kSpelledWordsMax.
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

// The candidates of a collection.
Spellings FindSpellings(const SpellingDictionary& dictionary,
                        const std::vector<SpelledWord>& words);

struct SpelledQuery {
  std::string text;
  int64_t score = 0;
  // True if each change is of a word that no document holds, and small for its length, so that
  // hardly anything else can have been meant.
  bool is_sure = false;

  bool operator==(const SpelledQuery&) const = default;
};

// Returns at most `count_max` other texts for `query` that are likelier than the query, best first.
std::vector<SpelledQuery> ComposeSpellings(std::string_view query,
                                           const std::vector<SpelledWord>& words,
                                           const Spellings& spellings, size_t count_max);

}  // namespace search::index
