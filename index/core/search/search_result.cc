#include "index/core/search/search_result.h"

#include <algorithm>

namespace search::index {
namespace {

bool IsBetterAtFirst(const Hit& a, const Hit& b) {
  return a.score != b.score ? a.score > b.score : a.doc_id < b.doc_id;
}

bool IsBetter(const Hit& a, const Hit& b) {
  const float of_a = FinalScore(a);
  const float of_b = FinalScore(b);
  return of_a != of_b ? of_a > of_b : a.doc_id < b.doc_id;
}

}  // namespace

void OrderHits(size_t second_phase_count, std::vector<Hit>* hits) {
  std::sort(hits->begin(), hits->end(), IsBetterAtFirst);
  for (size_t i = second_phase_count; i < hits->size(); ++i) {
    (*hits)[i].gain = 0;
    (*hits)[i].lacks = 0;
  }
  if (second_phase_count > 0) std::sort(hits->begin(), hits->end(), IsBetter);
}

SearchResult MergeResults(const SearchResult& a, const SearchResult& b, size_t k) {
  SearchResult merged;
  merged.second_phase_count = std::min(a.second_phase_count, b.second_phase_count);
  merged.second_phase_lacks_positions =
      a.second_phase_lacks_positions || b.second_phase_lacks_positions;
  merged.hits = a.hits;
  merged.hits.insert(merged.hits.end(), b.hits.begin(), b.hits.end());
  OrderHits(merged.second_phase_count, &merged.hits);
  const size_t kept = std::max(k, merged.second_phase_count);
  if (merged.hits.size() > kept) merged.hits.resize(kept);
  merged.total = a.total + b.total;
  merged.undated = a.undated + b.undated;
  merged.prefix_is_cut = a.prefix_is_cut || b.prefix_is_cut;
  merged.phrase_is_left_out = a.phrase_is_left_out || b.phrase_is_left_out;
  merged.total_is_exact = a.total_is_exact && b.total_is_exact;
  merged.complete = a.complete && b.complete;
  return merged;
}

}  // namespace search::index
