// The operators of the aggregation call that explains scores: explain the documents of a partition,
// join two answers.
//
// Source: [Chu03] figures 4 and 5 (local and reduce operator).
// Pure functions.
// Threads: thread-safe as the tier is.
// Errors: ExplainOperator: INVALID_ARGUMENT for a request outside the limits of explain.proto or
//   for a query that does not parse; DATA_LOSS.
// Limits: kExplainedDocumentsMax documents.

#pragma once

#include "index/core/search/explanation.h"
#include "index/tier/explain.pb.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr int kExplainedDocumentsMax = 100;

neptune::StatusOr<ExplainAnswer> ExplainOperator(const IndexTier& tier, const ExplainQuery& query);

// Joins the answers of disjoint sets of partitions. Of a document that both explain, because it is
// moving between partitions, the explanation with the higher score stays, one that matches first.
// Commutative and associative.
ExplainAnswer MergeExplainAnswers(const ExplainAnswer& a, const ExplainAnswer& b);

// The index core's explanation as a message.
DocumentExplanation ToMessage(const Explanation& explanation);

}  // namespace search::index
