// Synonyms: words that mean the same in one collection, so that a question with one of them also
// finds documents with another, at a share of the score that their file states.
//
//   file = { line }
//   line = [ share ":" word "," word { "," word } ] [ "#" comment ] "\n"
//   share = "0." digit [ digit ]            of the score of the word that was asked for
//   word                                    one word, or several that stand next to each other
//
// For example `0.6: postgres, postgresql, pg`. No word is in two lines.
// No I/O.
// Threads: immutable after Parse.
// Errors: INVALID_ARGUMENT with the number of the line.
// Limits: kSynonymFileSizeMax bytes; kSynonymSetSizeMax words in a line. A query grows to at most
//   ParseLimits::term_count_max words; what does not fit is left out.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/query/query.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kSynonymFileSizeMax = size_t{1} << 20;
inline constexpr size_t kSynonymSetSizeMax = 8;

class SynonymSets {
 public:
  static neptune::StatusOr<SynonymSets> Parse(std::string_view text);

  // Adds the synonyms of each word and phrase outside exclusions as its alternatives, with a note;
  // those of an optional word as optional words. Words in quotation marks or with a plus sign stay
  // alone, and a synonym is not added beside the same word.
  void Expand(Query* query) const;

  size_t set_count() const { return sets_.size(); }

 private:
  struct Set {
    uint32_t percent = 100;
    std::vector<QueryNode> words;  // kTerm or kPhrase
  };
  class Expander;

  neptune::Status AddLine(std::string_view line, size_t number);
  const Set* Find(const QueryNode& leaf) const;

  std::vector<Set> sets_;
  std::map<std::string, size_t> set_of_;  // index of the set, by canonical text of the word
};

}  // namespace search::index
