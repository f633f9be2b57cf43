// Analysis: turns text into the terms that the index stores and queries look up, with positions.
//
// Folding is Unicode NFKC with full case folding (utf8proc) and removal of Latin and Greek accents;
// stemming is Snowball's English stemmer (libstemmer). The rules are in README.md.
// No I/O, no clock, no locks.
// Threads: thread-compatible; use one Analyzer per thread, because stemmer and cache have state.
// Units: positions count words from 0; begin_byte and end_byte are offsets into the analysed text.
// Errors: none. Any bytes are accepted; invalid UTF-8 separates words.
// Limits: kTermSizeMax bytes per term, AnalyzerOptions::token_count_max tokens per call,
//   kTextSizeMax bytes per call; text over a limit is cut off without an error.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace search::index {

// Maximum size of a term; a longer word is cut at a character boundary, in documents and queries
// alike.
inline constexpr size_t kTermSizeMax = 64;
// Longer words are not stemmed.
inline constexpr size_t kStemmedWordSizeMax = 40;
// Text past this size is ignored; offsets fit 32 bits.
inline constexpr size_t kTextSizeMax = size_t{1} << 30;

// One occurrence of a term.
struct Token {
  // Points into the analyzer: valid until its next call and no longer than the analyzer lives.
  std::string_view term;
  // A marked name (names.h) has the position of its first word, which follows it.
  uint32_t position = 0;
  uint32_t begin_byte = 0;
  uint32_t end_byte = 0;
};

// Kind of analysis of a field.
enum class FieldKind : uint8_t {
  kTitle,  // words, folded and stemmed
  kBody,   // words, folded and stemmed
  // A name such as `cppreference-doc-en-html` or `docs.python.org`: not split into words, not
  // stemmed. Yields the folded name, its prefixes that end before a '-' and its suffixes that start
  // after a '.', all at position 0, so that `site:cppreference` and `site:python.org` are one term
  // lookup each.
  kSite,
};

// Word segmentation of running text.
enum class WordRule : uint8_t {
  kLanguage,  // README.md: Unicode words, folded, English stems
  // Runs of ASCII letters and digits in lower case, cut to kTermSizeMax bytes; all other bytes
  // separate words. The common denominator of engines, for comparing with them.
  kAsciiRuns,
};

struct AnalyzerOptions {
  // Default: the rule for documents and queries written by people.
  WordRule words = WordRule::kLanguage;
  // Maximum number of tokens per call; the rest of the text is dropped. Larger: more memory for
  // huge pages. Default: more than any page of the default corpora has.
  size_t token_count_max = size_t{1} << 24;
  // Number of cached stems, rounded up to a power of two, 32 bytes each; 0 = no cache. Larger:
  // fewer stemmer runs, until the table outgrows the processor's cache. Default: 512 KiB, for bulk
  // work.
  size_t stem_cache_size = size_t{1} << 14;
  // Off only for the test that checks that the fast path for ASCII words gives the same tokens.
  bool ascii_fast_path = true;

  // Options for a short-lived analyzer of a few words, such as a query's.
  static AnalyzerOptions ForQueries() { return {.token_count_max = 4096, .stem_cache_size = 0}; }
};

// One term of a query word; owns its text.
struct WordTerm {
  std::string term;       // term as indexed
  std::string folded;     // folded, not stemmed; analyses to `term` again
  std::string surface;    // word as typed
  uint32_t position = 0;  // relative to the word's first term

  bool operator==(const WordTerm&) const = default;
};

class Analyzer {
 public:
  explicit Analyzer(const AnalyzerOptions& options = {});
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // Replaces *tokens by the tokens of `utf8` in text order. Positions never decrease; byte ranges
  // are non-empty and begin and end on character boundaries; they never overlap, except for kSite
  // and marked names, which lie around their words.
  // Linear time.
  void Analyze(FieldKind field, std::string_view utf8, std::vector<Token>* tokens);

  // Analyzes running text (title and body).
  void Analyze(std::string_view utf8, std::vector<Token>* tokens) {
    Analyze(FieldKind::kBody, utf8, tokens);
  }

  // Returns the terms of one word or phrase typed by a user, one for each position from 0: words,
  // signs, and in place of their words marked names that are the whole text or have one word. Empty
  // if nothing of it is indexed (`&`); several if the index splits it (`pg_dump`: `pg`, `dump`).
  std::vector<WordTerm> AnalyzeWord(std::string_view utf8);
  // Returns all terms of `utf8`, as Analyze yields them.
  std::vector<WordTerm> AnalyzeWords(std::string_view utf8);

  // The canonical form of a site's name that queries look up: folded, at most kTermSizeMax bytes,
  // may be empty.
  static std::string FoldSite(std::string_view utf8);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
