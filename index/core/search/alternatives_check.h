// Checks whether a document holds one of the alternatives of a flat query, of which some are
// phrases. Needed because the lists of words find documents that hold the words of a phrase apart.
//
// Threads: thread-compatible; lives for one search.
// Errors: damaged positions match nothing; Evaluation::damaged reports them.

#pragma once

#include <cstdint>
#include <vector>

#include "index/core/search/phrase_check.h"
#include "index/core/search/query_words.h"

namespace search::index {

class AlternativesCheck {
 public:
  // `words` outlives the check.
  AlternativesCheck(const FlatPlan& plan, QueryWords* words, Evaluation* evaluation);

  // True if no alternative is a phrase: nothing has to be checked.
  bool empty() const { return phrases_.empty(); }

  // Cost: small if documents ascend from call to call. A document that holds an alternative word
  // costs no positions.
  bool Matches(uint32_t ordinal);

 private:
  struct Phrase {
    std::vector<WordList*> words;
    PhraseCheck check;
  };

  bool Holds(Phrase* phrase, uint32_t ordinal);

  std::vector<WordList*> words_;
  std::vector<Phrase> phrases_;
  std::vector<uint32_t> postings_;
};

}  // namespace search::index
