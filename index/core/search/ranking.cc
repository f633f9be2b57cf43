#include "index/core/search/ranking.h"

namespace search::index {
namespace {

constexpr float kWeightMax = 1000;

// Also false for NaN.
bool IsWithin(float value, float low, float high) { return value >= low && value <= high; }

}  // namespace

bool IsValid(const RankingOptions& options) {
  for (const RankingOptions::FieldOptions& field : options.fields) {
    if (!IsWithin(field.weight, 0, kWeightMax) || !IsWithin(field.b, 0, 1)) return false;
  }
  return IsWithin(options.k1, 0.001F, kWeightMax) &&
         IsWithin(options.static_rank_weight, 0, kWeightMax);
}

}  // namespace search::index
