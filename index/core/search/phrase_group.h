// Checks all phrases of a query in small groups of documents, so that what a group reads is
// prefetched before its first check.
//
// Threads: thread-compatible; lives for one search.
// Errors: damaged positions match nothing; Evaluation::damaged reports them.
// Limits: a group has at most kSizeMax documents.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/search/phrase_check.h"
#include "index/core/search/query_words.h"

namespace search::index {

class PhraseGroup {
 public:
  static constexpr size_t kSizeMax = 16;

  // `words` outlives the group.
  PhraseGroup(const FlatPlan& plan, QueryWords* words, Evaluation* evaluation);

  // True if the query has no phrase.
  bool empty() const { return phrases_.empty(); }

  // Makes these documents the group, and prefetches their positions.
  // REQUIRES: all of them hold all words of all phrases.
  void Load(std::span<const uint32_t> ordinals);
  // True if the group's i-th document holds all phrases.
  bool Matches(size_t i);

 private:
  struct Phrase {
    std::vector<WordList*> words;
    PhraseCheck check;
    std::vector<uint32_t> postings;  // [document of the group][word]
  };

  static std::span<const uint32_t> PostingsOf(const Phrase& phrase, size_t i) {
    return {&phrase.postings[i * phrase.words.size()], phrase.words.size()};
  }

  std::vector<Phrase> phrases_;
};

}  // namespace search::index
