// The two operators of the aggregation call over an index tier: answer a partition, merge two
// answers.
//
// Source: [Chu03] figures 4 and 5 (local and reduce operator).
// Pure functions.
// Threads: as thread-safe as the tier.
// Errors: LocalOperator: INVALID_ARGUMENT for a query outside the limits of index_tier.h.

#pragma once

#include <cstdint>
#include <string>

#include "index/tier/index_tier.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// OK if the query is within the limits of index_tier.h; does not parse the text.
neptune::Status ValidateTierQuery(const TierQuery& query);

// The answer of one partition; it satisfies the limits that MergeTierAnswers maintains.
neptune::StatusOr<TierAnswer> LocalOperator(const IndexTier& tier, const TierQuery& query,
                                            const TierSearchControl& control);

// Score plus gain, by which hits are ordered: -infinity if the score is NaN; a negative or
// non-finite gain counts as 0.
float FinalScore(const TierHit& hit);

// Takes the gain and the lacking words from all hits but the second_phase_count best by score,
// keeps as many hits as the larger of that and hit_count_max, and orders them by FinalScore.
void KeepBest(uint32_t hit_count_max, TierAnswer* answer);

// Number of hits that a partition returns for the query by its share; 0: the query sets none.
uint32_t ShareLimit(const TierQuery& query);

// States that the hits are cut after the last of them by score. REQUIRES: there is a hit.
void NoteCut(TierAnswer* answer);

// True if one of the best hits may be missing from a merge for that hit_count_max, because a
// partition has more of them than its share, or because it is not known whether one has.
bool LacksHits(const TierAnswer& merged, uint32_t hit_count_max);

// Names of implementations in alphabetical order with '+' between them, each once: of two such
// texts the text of both.
std::string JoinImplementations(const std::string& a, const std::string& b);

// Merges the answers of disjoint sets of partitions: the best hit_count_max hits of both (equal
// scores by ascending doc_id, a NaN score last), totals added (saturating), flags true if both are
// (second_phase_lacks_positions, prefix_is_cut, phrase_is_left_out: if one is), epochs added, the
// smaller index_version, the implementations as merged by JoinImplementations, and, if nothing
// matched, the sites with their documents added, and the fields that either found.
//
// The smaller second_phase_count of both, n, applies: of all hits, the n best by score keep their
// gain, and all are ordered by FinalScore. If n is more than hit_count_max, n hits are kept for
// further merges, so no message has more hits than the larger of both.
// Bounds of the other tier are joined: of each word the larger ones of what either knows. says_cut
// is true if both are, and cut_after is the one of both that ranks first.
// Commutative and associative, so a tree of any shape yields the same bytes.
// O(n log n) in the number of hits; the order of the inputs' hits does not matter.
TierAnswer MergeTierAnswers(const TierAnswer& a, const TierAnswer& b, uint32_t hit_count_max);

}  // namespace search::index
