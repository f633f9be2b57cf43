#include "index/tier/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "neptune/base/strings.h"

namespace search::index {
namespace {

float Rank(const TierHit& hit) {
  return std::isnan(hit.score()) ? -std::numeric_limits<float>::infinity() : hit.score();
}

bool RanksBefore(const TierHit& a, const TierHit& b) {
  if (Rank(a) != Rank(b)) return Rank(a) > Rank(b);
  return a.doc_id() < b.doc_id();
}

uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

}  // namespace

neptune::Status ValidateTierQuery(const TierQuery& query) {
  if (query.hit_count_max() < 1 || query.hit_count_max() > kTierHitCountMax) {
    return neptune::InvalidArgument("hit_count_max is ", query.hit_count_max(), ", not 1 to ",
                                    kTierHitCountMax);
  }
  if (query.query().size() > kTierQuerySizeMax) {
    return neptune::InvalidArgument("query has ", query.query().size(), " bytes, more than ",
                                    kTierQuerySizeMax);
  }
  return neptune::OkStatus();
}

neptune::StatusOr<TierAnswer> LocalOperator(const IndexTier& tier, const TierQuery& query,
                                            const TierSearchControl& control) {
  NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(query));
  return tier.Search(query, control);
}

TierAnswer MergeTierAnswers(const TierAnswer& a, const TierAnswer& b, uint32_t hit_count_max) {
  std::vector<TierHit> hits(a.hits().begin(), a.hits().end());
  hits.insert(hits.end(), b.hits().begin(), b.hits().end());
  const size_t kept = std::min<size_t>(hits.size(), hit_count_max);
  std::partial_sort(hits.begin(), hits.begin() + kept, hits.end(), RanksBefore);

  TierAnswer merged;
  merged.mutable_hits()->Add(hits.begin(), hits.begin() + kept);
  merged.set_total(AddSaturated(a.total(), b.total()));
  merged.set_total_is_exact(a.total_is_exact() && b.total_is_exact());
  merged.set_evaluated_completely(a.evaluated_completely() && b.evaluated_completely());
  if (a.implementation() == b.implementation()) merged.set_implementation(a.implementation());
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  return merged;
}

}  // namespace search::index
