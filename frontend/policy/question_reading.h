// How a question is read: what the tiers are asked for it, and what the page says about it.
//
//   text as typed ─► ParseQuestion ─► synonyms ─► (demands become wishes) ─► QuestionReading
//   running text ──► AnyWordOf ─────┘
//
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT "parameter q: ..." for text over a limit.
// Limits: those of index::ParseLimits.

#pragma once

#include <string>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/policy/tier_bound.h"
#include "index/core/query/scoring_words.h"
#include "index/core/query/synonyms.h"
#include "neptune/base/status.h"

namespace search::frontend {

struct QuestionText {
  std::string text;
  bool is_plain = false;  // running text: nothing is an operator
  // What the text demands is only wanted (index/core/query/relaxation.h).
  bool is_relaxed = false;
};

struct QuestionReading {
  // What the tiers are asked; empty: nothing is searched for.
  std::string canonical;
  std::vector<std::string> site_filters;
  std::vector<std::string> fields;  // declared fields that are filtered by
  std::vector<index::ScoringWord> words;
  BoundedQuery bounded;
  std::vector<std::string> notes;
  std::vector<Narrowing> narrowings;
  // Demands that became wishes. Empty although it was asked for: the text demands nothing that can
  // be given up, and the rest of the reading is empty.
  std::vector<std::string> unmet_demands;
};

// `synonyms` may be null.
neptune::StatusOr<QuestionReading> ReadQuestion(const QuestionText& question,
                                                const index::SynonymSets* synonyms);

}  // namespace search::frontend
