// A flat query over one segment of a test collection, for tests of the parts of BlockRanker.
//
// Threads: thread-compatible.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "index/core/query/query.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/flat_plan.h"
#include "index/core/search/query_words.h"
#include "index/core/testing/collection.h"

namespace search::index {

class FlatQuery {
 public:
  // REQUIRES: the query has a flat form; the collection outlives this object.
  FlatQuery(const TestCollection& collection, const std::string& text)
      : space_(collection.segment(0), collection.statistics(0), {}),
        plan_(*Flatten(*MakeQueryPlan(*ParseQuery(text), collection.segment(0)))),
        evaluation_(space_, nullptr, stop_),
        words_(plan_, /*scores=*/true, &evaluation_) {}
  FlatQuery(const FlatQuery&) = delete;
  FlatQuery& operator=(const FlatQuery&) = delete;

  const SearchSpace& space() const { return space_; }
  const FlatPlan& plan() const { return plan_; }
  Evaluation* evaluation() { return &evaluation_; }
  QueryWords& words() { return words_; }

 private:
  const SearchSpace space_;
  const FlatPlan plan_;
  const std::function<bool()> stop_;
  Evaluation evaluation_;
  QueryWords words_;
};

// True if the list holds the document. REQUIRES: a list that is not dense was decoded.
inline bool Holds(const WordList& list, uint32_t ordinal) {
  if (list.is_dense()) return HoldsDocument(list.dense().documents, ordinal);
  return std::binary_search(list.ordinals().begin(), list.ordinals().end(), ordinal);
}

// What the list adds to the document's score; 0 if it does not hold it.
inline ScoreUnits UnitsOf(WordList& list, uint32_t ordinal) {
  if (!Holds(list, ordinal)) return 0;
  const uint32_t posting = list.PostingOf(ordinal);
  return list.is_dense() ? list.weight().Units(list.dense().impacts[posting])
                         : list.units()[posting];
}

}  // namespace search::index
