// Finds the words and phrases of a query in a text, step by step, so that a huge text with a good
// passage early is not read to its end.
//
// Words are found by index::TermFinder; only a query with signs or marked names has its texts
// analysed. Both find the same words.
// Threads: thread-compatible; one MatchScan per thread, used for one text after another.
// Units: bytes of text.
// Limits: 16,384 words of the query in a text; then the scan ends.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "docserver/snippet/passages.h"
#include "docserver/snippet/query_terms.h"
#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/term_finder.h"

namespace search::docserver {

// A word of the text whose term is in the query.
struct MatchedWord {
  size_t begin;
  size_t end;
  // Differences are those of index::Token, up to the longest phrase of the query.
  uint64_t position;
  int term;
  bool is_marked;
};

class MatchScan {
 public:
  // How words are found.
  enum class Method {
    kFindTerms,    // README.md: reads only what can match
    kAnalyseText,  // for the tests that compare, and for names
  };
  explicit MatchScan(Method method) : method_(method) {}

  // Begins another text. Both must stay valid until the next call.
  void Begin(std::string_view text, const QueryTerms* terms);
  // Scans the next 16 KiB; false if the text or the limit of words has been reached before.
  bool ScanStep();
  bool IsAtEnd() const { return at_ == text_.size(); }

  // In text order; a name with a sign is before the word of the query that it contains.
  const std::vector<MatchedWord>& words() const { return words_; }
  // Occurrences of units, sorted by begin.
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  bool HasAllUnits() const;

 private:
  void FindWords(size_t begin, size_t end);
  void AnalyseWords(size_t begin, size_t end);
  bool AddWord(const index::Token& token, int term, size_t step_begin, uint64_t position);
  uint64_t PositionAt(size_t begin) const;
  void AddOccurrences();
  void AddPhraseEndingAt(const QueryTerms::Phrase& phrase, size_t last);

  const Method method_;
  index::TermFinder finder_;
  std::unique_ptr<index::Analyzer> analyzer_;  // null until it is needed

  std::string_view text_;
  const QueryTerms* terms_ = nullptr;
  size_t at_ = 0;                   // where the next step begins
  uint64_t analysed_position_ = 0;  // of the next step's first word, if it is analysed
  size_t first_unmatched_ = 0;      // words before it are in occurrences_
  std::vector<index::Token> tokens_;
  std::vector<MatchedWord> words_;
  std::vector<Occurrence> occurrences_;
  std::vector<size_t> phrase_words_;
};

}  // namespace search::docserver
