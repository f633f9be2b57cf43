#include "index/tier/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace search::index {
namespace {

float FirstScore(const TierHit& hit) {
  return std::isnan(hit.score()) ? -std::numeric_limits<float>::infinity() : hit.score();
}

bool RanksBeforeAtFirst(const TierHit& a, const TierHit& b) {
  if (FirstScore(a) != FirstScore(b)) return FirstScore(a) > FirstScore(b);
  return a.doc_id() < b.doc_id();
}

bool RanksBefore(const TierHit& a, const TierHit& b) {
  if (FinalScore(a) != FinalScore(b)) return FinalScore(a) > FinalScore(b);
  return a.doc_id() < b.doc_id();
}

uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

// More names than a page shows, so that those of the largest sites are complete.
constexpr size_t kMergedSitesMax = 256;

// Leaves the sites with the most documents.
void KeepLargest(std::map<std::string, uint64_t>* sites) {
  if (sites->size() <= kMergedSitesMax) return;
  std::vector<std::pair<uint64_t, std::string>> by_size;
  for (const auto& [name, count] : *sites) by_size.emplace_back(count, name);
  std::sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (size_t i = kMergedSitesMax; i < by_size.size(); ++i) sites->erase(by_size[i].second);
}

// Sites matter only if nothing matched anywhere.
void MergeSites(const TierAnswer& a, const TierAnswer& b, TierAnswer* merged) {
  if (merged->total() > 0) return;
  std::map<std::string, uint64_t> sites;
  std::set<std::string> found;
  for (const TierAnswer* answer : {&a, &b}) {
    for (const TierSite& site : answer->sites()) {
      uint64_t& count = sites[site.name()];
      count = AddSaturated(count, site.document_count());
    }
    found.insert(answer->found_sites().begin(), answer->found_sites().end());
  }
  KeepLargest(&sites);
  for (const auto& [name, count] : sites) {
    TierSite* const site = merged->add_sites();
    site->set_name(name);
    site->set_document_count(count);
  }
  for (const std::string& name : found) merged->add_found_sites(name);
}

// Fields matter only if nothing matched anywhere.
void MergeFields(const TierAnswer& a, const TierAnswer& b, TierAnswer* merged) {
  if (merged->total() > 0) return;
  std::set<std::string> found(a.found_fields().begin(), a.found_fields().end());
  found.insert(b.found_fields().begin(), b.found_fields().end());
  for (const std::string& name : found) merged->add_found_fields(name);
}

// Known only if both answers know them.
void MergeWordCounts(const TierAnswer& a, const TierAnswer& b, TierAnswer* merged) {
  if (a.word_document_counts_size() != b.word_document_counts_size()) return;
  for (int i = 0; i < a.word_document_counts_size(); ++i) {
    const uint64_t sum = uint64_t{a.word_document_counts(i)} + b.word_document_counts(i);
    merged->add_word_document_counts(static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX)));
  }
}

void MergeCuts(const TierAnswer& a, const TierAnswer& b, TierAnswer* merged) {
  merged->set_says_cut(a.says_cut() && b.says_cut());
  for (const TierAnswer* answer : {&a, &b}) {
    if (!answer->has_cut_after()) continue;
    if (!merged->has_cut_after() || RanksBeforeAtFirst(answer->cut_after(), merged->cut_after())) {
      *merged->mutable_cut_after() = answer->cut_after();
    }
  }
}

// REQUIRES: there is a hit.
const TierHit& LastByScore(const TierAnswer& answer) {
  return *std::max_element(answer.hits().begin(), answer.hits().end(), RanksBeforeAtFirst);
}

// Adds what `from` knows; both know the same, or nothing.
void AddBounds(const OtherTierBounds& from, OtherTierBounds* to) {
  to->set_static_rank_units(std::max(to->static_rank_units(), from.static_rank_units()));
  to->set_is_empty(to->is_empty() || from.is_empty());
  while (to->words_size() < from.words_size()) to->add_words();
  for (int i = 0; i < from.words_size(); ++i) {
    const OtherTierWord& word = from.words(i);
    OtherTierWord& known = *to->mutable_words(i);
    known.set_is_known(known.is_known() || word.is_known());
    known.set_document_count(std::max(known.document_count(), word.document_count()));
    known.set_units(std::max(known.units(), word.units()));
    known.set_inverse_document_frequency(
        std::max(known.inverse_document_frequency(), word.inverse_document_frequency()));
    known.set_title_share(std::max(known.title_share(), word.title_share()));
  }
}

}  // namespace

float FinalScore(const TierHit& hit) {
  const bool counts = std::isfinite(hit.gain()) && hit.gain() > 0;
  return counts ? FirstScore(hit) + hit.gain() : FirstScore(hit);
}

neptune::Status ValidateTierQuery(const TierQuery& query) {
  if (query.hit_count_max() < 1 || query.hit_count_max() > kTierHitCountMax) {
    return neptune::InvalidArgument("hit_count_max is ", query.hit_count_max(), ", not 1 to ",
                                    kTierHitCountMax);
  }
  if (query.second_phase_count() > kTierHitCountMax) {
    return neptune::InvalidArgument("second_phase_count is ", query.second_phase_count(),
                                    ", more than ", kTierHitCountMax);
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
  NEPTUNE_ASSIGN_OR_RETURN(TierAnswer answer, tier.Search(query, control));
  answer.set_says_cut(true);
  return answer;
}

uint32_t ShareLimit(const TierQuery& query) {
  const uint32_t all = std::max(query.hit_count_max(), query.second_phase_count());
  return query.share() < all ? query.share() : 0;
}

void NoteCut(TierAnswer* answer) {
  const TierHit& last = LastByScore(*answer);
  answer->mutable_cut_after()->set_doc_id(last.doc_id());
  answer->mutable_cut_after()->set_score(last.score());
}

bool LacksHits(const TierAnswer& merged, uint32_t hit_count_max) {
  if (!merged.says_cut()) return true;
  if (!merged.has_cut_after()) return false;
  const uint32_t wanted = std::max(hit_count_max, merged.second_phase_count());
  if (static_cast<uint32_t>(merged.hits_size()) < wanted) return true;
  return RanksBeforeAtFirst(merged.cut_after(), LastByScore(merged));
}

void KeepBest(uint32_t hit_count_max, TierAnswer* answer) {
  auto& hits = *answer->mutable_hits();
  const auto rated = static_cast<int>(std::min(answer->second_phase_count(), kTierHitCountMax));
  const int kept = std::min(hits.size(), std::max(static_cast<int>(hit_count_max), rated));
  std::partial_sort(hits.begin(), hits.begin() + kept, hits.end(), RanksBeforeAtFirst);
  hits.DeleteSubrange(kept, hits.size() - kept);
  for (int i = rated; i < kept; ++i) {
    hits[i].clear_gain();
    hits[i].clear_lacks();
  }
  if (rated > 0) std::sort(hits.begin(), hits.end(), RanksBefore);
}

std::string JoinImplementations(const std::string& a, const std::string& b) {
  if (a == b || b.empty()) return a;
  std::set<std::string> names;
  for (const std::string& list : {a, b}) {
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find('+', begin), list.size());
      if (end > begin) names.insert(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::string joined;
  for (const std::string& name : names) {
    neptune::StrAppend(&joined, joined.empty() ? "" : "+", name);
  }
  return joined;
}

TierAnswer MergeTierAnswers(const TierAnswer& a, const TierAnswer& b, uint32_t hit_count_max) {
  TierAnswer merged;
  merged.mutable_hits()->Add(a.hits().begin(), a.hits().end());
  merged.mutable_hits()->Add(b.hits().begin(), b.hits().end());
  merged.set_second_phase_count(std::min(a.second_phase_count(), b.second_phase_count()));
  merged.set_second_phase_lacks_positions(a.second_phase_lacks_positions() ||
                                          b.second_phase_lacks_positions());
  KeepBest(hit_count_max, &merged);
  merged.set_total(AddSaturated(a.total(), b.total()));
  merged.set_total_is_exact(a.total_is_exact() && b.total_is_exact());
  merged.set_evaluated_completely(a.evaluated_completely() && b.evaluated_completely());
  merged.set_implementation(JoinImplementations(a.implementation(), b.implementation()));
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  merged.set_epoch(a.epoch() + b.epoch());  // hashes: the sum wraps around
  merged.set_prefix_is_cut(a.prefix_is_cut() || b.prefix_is_cut());
  merged.set_phrase_is_left_out(a.phrase_is_left_out() || b.phrase_is_left_out());
  merged.set_undated_count(AddSaturated(a.undated_count(), b.undated_count()));
  MergeCuts(a, b, &merged);
  MergeWordCounts(a, b, &merged);
  MergeSites(a, b, &merged);
  MergeFields(a, b, &merged);
  for (const TierAnswer* answer : {&a, &b}) {
    if (answer->has_other_tier()) AddBounds(answer->other_tier(), merged.mutable_other_tier());
  }
  return merged;
}

}  // namespace search::index
