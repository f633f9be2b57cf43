// Iterates over the documents that a part of a query matches, without scores.
//
// Source: document-at-a-time evaluation; conjunctions leapfrog from the rarest part.
// Threads: thread-compatible; lives for one search.
// Errors: damage of a posting list ends it (Evaluation::damaged).

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "index/core/search/bitmap_filter.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"

namespace search::index {

class Matcher {
 public:
  virtual ~Matcher() = default;

  // The first match at or after `target`, or kNoDocument if there is none. Targets never decrease;
  // the same target returns the same match.
  virtual uint32_t Seek(uint32_t target) = 0;
};

// If the node is a frequent word in any field, adds its bitmap, which then replaces the node.
bool AddToFilter(const PlanNode& node, const SearchSpace& space,
                 std::vector<const uint64_t*>* bitmaps);

std::unique_ptr<Matcher> MakeMatcher(const PlanNode& node, Evaluation* evaluation);

}  // namespace search::index
