// A query bound to a segment: its tree with posting lists in place of words, and the scoring
// leaves.
//
// Threads: plain values.
// Errors: DATA_LOSS for a damaged dictionary; INVALID_ARGUMENT for a phrase over a segment without
//   positions, unless it is one alternative of others that are none, as a synonym is; and for a
//   tree over a limit, which cannot happen within the parser's limits.
// Limits: kScoringLeavesMax with repeats, so that sums of scores fit ScoreUnits; 256 levels.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/segment/format.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kScoringLeavesMax = 1024;

// A posting list, or only those of its postings that have the word in the title.
struct PlanLeaf {
  TermEntry entry;
  bool title_only = false;
  // Number of occurrences in the query; set for scoring leaves only, ignored by ==.
  uint32_t occurrences = 1;
  // Share of the usual weight, in percent; set for scoring leaves only, ignored by ==.
  uint32_t percent = 100;

  bool operator==(const PlanLeaf& other) const {
    return entry.ordinal == other.entry.ordinal && title_only == other.title_only;
  }
};

struct PlanNode {
  enum class Kind : uint8_t {
    kNothing,  // only as the root: no document of the segment matches
    kLeaf,     // leaves[0]
    kPhrase,   // leaves, at `positions`; with a distance in any order within it
    kAnd,      // all children and no excluded one
    kOr,
  };

  Kind kind = Kind::kNothing;
  std::vector<PlanLeaf> leaves;
  std::vector<uint32_t> positions;
  // kPhrase: 0, or the maximum difference between the positions of any two of the leaves.
  uint32_t distance = 0;
  std::vector<PlanNode> children;
  std::vector<PlanNode> excluded;  // only for kAnd

  // Upper bound of the number of matching documents.
  uint64_t cost() const;
};

struct QueryPlan {
  PlanNode root;
  // Distinct leaves of words and phrases outside exclusions, in query order. The score of a
  // matching document is their sum, each leaf weighted by its occurrences in the query.
  std::vector<PlanLeaf> scoring;
  // True if a prefix stands for more terms than were looked up (prefix_terms.h).
  bool prefix_is_cut = false;
  // True if a phrase among alternatives was left out, because the segment has no positions. Its
  // words still score.
  bool phrase_is_left_out = false;
  // True if `stop` ended the planning before all prefixes were looked up: the plan is of no use.
  bool is_stopped = false;

  // Postings that an evaluation may read, approximately; pruning makes them fewer. Evaluations can
  // be ordered by it, and nothing else.
  uint64_t ExpectedPostings() const;
};

// `stop` is polled before each prefix, whose look-up reads up to kPrefixKeysMax terms; it may be
// empty.
neptune::StatusOr<QueryPlan> MakeQueryPlan(const Query& query, const Segment& segment,
                                           const std::function<bool()>& stop = {});

}  // namespace search::index
