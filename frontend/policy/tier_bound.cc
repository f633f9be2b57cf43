#include "frontend/policy/tier_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "index/core/query/scoring_words.h"
#include "index/core/rerank/second_phase.h"
#include "index/tier/operators.h"

namespace search::frontend {
namespace {

using index::OtherTierBounds;
using index::OtherTierWord;
using index::QueryNode;
using index::TierAnswer;

constexpr double kUnitsPerScore = 65536;

// Marks the words of a node that every matching document holds.
void MarkDemanded(const QueryNode& node, const std::vector<index::ScoringWord>& words,
                  std::vector<bool>* demanded) {
  const auto mark = [&](const std::string& term) {
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_title_only = node.field == index::QueryField::kTitle;
      if (words[i].term == term && words[i].title_only == is_title_only) (*demanded)[i] = true;
    }
  };
  if (node.is_optional) return;
  if (node.kind == QueryNode::Kind::kTerm) mark(node.term);
  for (const index::PhraseTerm& term : node.phrase) mark(term.term);
  if (node.kind != QueryNode::Kind::kAnd) return;
  for (const QueryNode& child : node.children) MarkDemanded(child, words, demanded);
}

// True if a document may match without any word, as by its site alone.
bool MatchesWithoutWords(const QueryNode& node) {
  const auto is_required = [](const QueryNode& child) {
    return !child.is_optional && child.kind != QueryNode::Kind::kNot;
  };
  switch (node.kind) {
    case QueryNode::Kind::kSite:
    case QueryNode::Kind::kField:
      return true;
    case QueryNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), [&](const QueryNode& child) {
        return !is_required(child) || MatchesWithoutWords(child);
      });
    case QueryNode::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), MatchesWithoutWords);
    default:
      return false;
  }
}

bool IsInTier2(const OtherTierWord& word) { return word.document_count() > 0; }

// Bound of the gain in units. Each rounded part of a gain is at most one unit above its exact
// value.
double GainUnits(const OtherTierBounds& bounds) {
  const index::SecondPhaseWeights weights;
  double title_share = 0;
  double title_idf = 0;
  double units = 0;
  for (int i = 0; i < bounds.words_size(); ++i) {
    const OtherTierWord& word = bounds.words(i);
    if (!IsInTier2(word)) continue;
    const auto idf = static_cast<double>(word.inverse_document_frequency());
    units += static_cast<double>(weights.lead) * idf * kUnitsPerScore + 2;
    if (word.title_share() > 0) {
      // The largest share that fits is stored for 1.
      title_share += (word.title_share() + 1) / kUnitsPerScore;
      title_idf += idf;
    }
    const int reach = std::min<int>(bounds.words_size(), i + 1 + index::kProximityReach);
    for (int j = i + 1; j < reach; ++j) {
      if (!IsInTier2(bounds.words(j))) continue;
      const auto other = static_cast<double>(bounds.words(j).inverse_document_frequency());
      units += static_cast<double>(weights.proximity) * std::min(idf, other) * kUnitsPerScore + 1;
    }
  }
  const double cover = std::min(1.0, title_share);
  units += static_cast<double>(weights.title) * title_idf * cover * cover * kUnitsPerScore;
  return units;
}

uint64_t MatchesMax(const OtherTierBounds& bounds, const std::vector<bool>& demanded) {
  uint64_t any = 0;
  uint64_t all = std::numeric_limits<uint64_t>::max();
  for (int i = 0; i < bounds.words_size(); ++i) {
    const uint64_t count = bounds.words(i).document_count();
    any += count;
    if (demanded[static_cast<size_t>(i)]) all = std::min(all, count);
  }
  return std::min(any, all);
}

// Idf is a float on the wire and the rating uses a double: one part in 2^20 covers the difference.
float RoundedUp(double units) {
  const auto score = static_cast<float>(units * (1 + 0x1p-20) / kUnitsPerScore);
  return std::nextafter(score, std::numeric_limits<float>::infinity());
}

}  // namespace

BoundedQuery BoundedQueryOf(const index::Query& query) {
  BoundedQuery bounded;
  const std::vector<index::ScoringWord> words = index::ScoringWords(query);
  bounded.demanded.resize(words.size());
  MarkDemanded(query.root, words, &bounded.demanded);
  const std::vector<const QueryNode*> leaves = index::PositiveLeaves(query);
  bounded.is_bounded = !MatchesWithoutWords(query.root) &&
                       std::none_of(leaves.begin(), leaves.end(), [](const QueryNode* leaf) {
                         return leaf->kind == QueryNode::Kind::kPrefix;
                       });
  return bounded;
}

std::optional<TierBound> BoundOfTier2(const OtherTierBounds& bounds, const BoundedQuery& query) {
  if (bounds.is_empty()) return TierBound();
  const auto word_count = static_cast<size_t>(bounds.words_size());
  if (!query.is_bounded || word_count == 0 || word_count != query.demanded.size()) {
    return std::nullopt;
  }
  uint64_t units = bounds.static_rank_units();
  for (const OtherTierWord& word : bounds.words()) {
    if (!word.is_known()) return std::nullopt;
    if (IsInTier2(word)) units += word.units();
  }
  TierBound bound;
  bound.document_count = MatchesMax(bounds, query.demanded);
  // The first phase is exact in units; only its conversion to a float rounds.
  bound.first_score = static_cast<float>(static_cast<double>(units) / kUnitsPerScore);
  bound.final_score = RoundedUp(static_cast<double>(units) + GainUnits(bounds));
  return bound;
}

uint32_t SureHits(const TierAnswer& tier1, const TierBound& tier2) {
  const auto hit_count = static_cast<uint32_t>(tier1.hits_size());
  if (tier2.document_count == 0) return hit_count;
  const uint32_t rated_max = tier1.second_phase_count();
  const uint32_t rated = std::min(hit_count, rated_max);
  std::vector<float> firsts;
  for (uint32_t i = 0; i < rated; ++i) firsts.push_back(tier1.hits(static_cast<int>(i)).score());
  std::sort(firsts.begin(), firsts.end(), std::greater<>());
  // If tier 2 cannot reach the last rated document, the second phase rates none of it.
  const bool may_be_rated =
      rated_max > 0 && (rated < rated_max || tier2.first_score >= firsts.back());
  const float reached = may_be_rated ? tier2.final_score : tier2.first_score;
  uint32_t sure = 0;
  for (; sure < hit_count; ++sure) {
    const index::TierHit& hit = tier1.hits(static_cast<int>(sure));
    if (!(index::FinalScore(hit) > reached)) break;
    if (!may_be_rated || sure >= rated || hit.score() > tier2.first_score) continue;
    const auto ahead = static_cast<uint64_t>(
        std::count_if(firsts.begin(), firsts.end(), [&](float s) { return s >= hit.score(); }));
    if (ahead + tier2.document_count > rated_max) break;  // `ahead` includes the hit
  }
  return sure;
}

double SurePageShare(const TierAnswer& tier1, const std::optional<TierBound>& tier2,
                     const PageWindow& page) {
  if (!tier2.has_value()) return 0;
  if (tier2->document_count == 0) return 1;
  const uint32_t sure = SureHits(tier1, *tier2);
  if (page.count == 0 || sure <= page.start) return 0;
  return static_cast<double>(std::min(sure - page.start, page.count)) / page.count;
}

}  // namespace search::frontend
