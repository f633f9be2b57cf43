// Finds the occurrences of a few terms in running text: the tokens that Analyzer yields for them,
// without folding and stemming the words that cannot be one.
//
// A stem keeps all letters of its word but its own last one (`hopping`, `hope`), so a word that
// begins otherwise than all wanted terms is passed over: 64 bytes at a time are searched for
// places where a word may begin, and only few of these are read by WordScanner. Text that is not
// ASCII is read word by word.
// No I/O, no clock, no locks.
// Threads: WantedTerms is immutable once filled; TermFinder is thread-compatible, one per thread.
// Units: bytes of text.
// Errors: none. Any bytes are accepted as text.
// Limits: those of Analyzer. Signs and marked names (names.h) are not found.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/stemmer.h"
#include "index/core/analysis/term_arena.h"

namespace search::index {

class WordScanner;

// The terms to find, and a filter for the beginnings of words that can be one of them.
class WantedTerms {
 public:
  // Wants a term as Analyzer yields it, or all terms that begin with `prefix`. Neither is kept.
  // REQUIRES: not empty.
  void AddTerm(std::string_view term) { Add(term, /*is_prefix=*/false); }
  void AddPrefix(std::string_view prefix) { Add(prefix, /*is_prefix=*/true); }

  // True if a sign or a marked name may be among the terms: only an Analyzer finds those.
  bool has_names() const { return has_names_; }

  // False only if no wanted term is that of the word that begins at text[at], an ASCII letter or
  // digit, and has no byte that is not ASCII among those that are compared.
  bool MayBeginAt(std::string_view text, size_t at) const;
  // The same of a folded word, whose first eight bytes can be read and are zero past its end.
  bool MayBe(const char* folded) const;

 private:
  // Bytes that the beginning of a word must have, in lower case.
  struct Beginning {
    uint64_t mask = 0;
    uint64_t bytes = 0;
  };
  static constexpr size_t kClassCount = 64;

  void Add(std::string_view term, bool is_prefix);
  bool HasBeginning(size_t first_class, uint64_t bytes) const;

  // The classes that a word's second byte may have, as bits, by the class of its first one.
  std::array<uint64_t, kClassCount> second_classes_ = {};
  std::array<std::vector<Beginning>, kClassCount> beginnings_;
  bool has_names_ = false;
};

class TermFinder {
 public:
  TermFinder();

  // Replaces *tokens by those of `text` whose term is wanted, in text order; others that begin
  // alike may be among them. Their positions are 0. REQUIRES: !wanted.has_names(). Linear time.
  void Find(std::string_view text, const WantedTerms& wanted, std::vector<Token>* tokens);

  // The number of positions that the words and signs between a word that ends at `begin` and a word
  // that begins at `end` take; at most `count_max`. Cost: linear in the text that is counted.
  static size_t CountPositions(std::string_view text, size_t begin, size_t end, size_t count_max);

 private:
  // A table that fits the processor's nearest cache: the few words that begin like wanted ones
  // repeat.
  static constexpr size_t kStemCacheSize = 256;

  // Adds the wanted words that begin in [begin, end), of which `begin` is known to be outside of
  // any word; returns the end of what was read.
  size_t ReadWords(std::string_view text, size_t begin, size_t end, const WantedTerms& wanted,
                   std::vector<Token>* tokens);
  std::string_view TermOf(const WordScanner& word);

  EnglishStemmer stemmer_;
  TermArena arena_;
};

}  // namespace search::index
