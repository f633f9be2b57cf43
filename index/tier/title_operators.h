// Titles for the hits of an answer, and the operators of the aggregation call for titles of given
// documents.
//
// Threads: pure functions.
// Errors: TitlesOperator: INVALID_ARGUMENT for a request outside the limits of titles.proto.
// Limits: kTitledDocumentsMax documents.

#pragma once

#include <cstdint>

#include "index/tier/tier.pb.h"
#include "index/tier/titles.pb.h"
#include "index/tier/titles/title_table.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr uint32_t kTitledDocumentsMax = 100;

// Adds to the first `count` hits what the table has of them.
void AddTitles(const TitleTable& titles, uint32_t count, TierAnswer* answer);

// What the table has of the documents; null: it has none.
neptune::StatusOr<TitlesAnswer> TitlesOperator(const TitleTable* titles, const TitlesQuery& query);

// Joins the answers of two sets of partitions. Of a document that both know, always the same title
// stays. Commutative and associative.
TitlesAnswer MergeTitlesAnswers(const TitlesAnswer& a, const TitlesAnswer& b);

}  // namespace search::index
