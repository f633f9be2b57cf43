// Checks whether a document that holds all words of a phrase holds them in order, or near each
// other.
//
// Threads: thread-compatible; lives for one search.
// Errors: damaged positions match nothing; Evaluation::damaged reports them.

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"
#include "index/core/segment/position_reader.h"

namespace search::index {

class PhraseCheck {
 public:
  // Word i of the phrase is leaves[i], at positions[i]; in any field, or in the title only. With a
  // distance the words may be in any order, at most that far from each other, and the positions do
  // not matter.
  PhraseCheck(const std::vector<PlanLeaf>& leaves, std::vector<uint32_t> positions,
              uint32_t distance, Evaluation* evaluation);

  // `postings`: index of the document's posting in the list of each word.
  bool Matches(std::span<const uint32_t> postings);
  // Prefetches what Matches reads; see PositionReader::Prefetch.
  void Prefetch(std::span<const uint32_t> postings, int step) {
    for (size_t word = 0; word < readers_.size(); ++word) {
      readers_[word]->Prefetch(postings[word], step);
    }
  }

 private:
  bool MatchesIn(Field field);
  bool IsNearIn(Field field);

  std::vector<PositionReader*> readers_;
  std::vector<uint32_t> positions_;
  const uint32_t distance_;
  bool title_only_;
  std::vector<uint32_t> order_;   // word indexes, the rarest in the document's field first
  std::vector<uint32_t> starts_;  // possible start positions of the phrase, ascending
};

// Checks a phrase whose words have cursors.
class PhraseAtCursors {
 public:
  // cursors[i] is that of the node's leaves[i].
  PhraseAtCursors(const PlanNode& node, std::vector<PostingCursor*> cursors, Evaluation* evaluation)
      : check_(node.leaves, node.positions, node.distance, evaluation),
        cursors_(std::move(cursors)) {}

  // REQUIRES: all cursors are at the same document.
  bool Matches() {
    postings_.clear();
    for (const PostingCursor* cursor : cursors_) postings_.push_back(cursor->posting());
    return check_.Matches(postings_);
  }

 private:
  PhraseCheck check_;
  std::vector<PostingCursor*> cursors_;
  std::vector<uint32_t> postings_;
};

}  // namespace search::index
