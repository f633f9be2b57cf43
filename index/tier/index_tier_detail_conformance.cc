// The part of the conformance suite about explanations of scores and counts by site. A variant may
// leave out either; its answers must then name it.

#include <map>
#include <string>

#include "index/core/query/query.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet_operators.h"
#include "index/tier/index_tier_conformance.h"
#include "index/tier/operators.h"

namespace search::index {
namespace {

using Tiers = std::vector<std::unique_ptr<IndexTier>>;

constexpr uint32_t kRated = 5;

TierAnswer AskAll(const Tiers& tiers, const std::string& canonical, uint32_t hit_count_max) {
  TierQuery query;
  query.set_query(canonical);
  query.set_hit_count_max(hit_count_max);
  query.set_count_exactly(true);
  query.set_second_phase_count(kRated);
  TierAnswer merged;
  for (size_t i = 0; i < tiers.size(); ++i) {
    const auto answer = tiers[i]->Search(query, {});
    EXPECT_TRUE(answer.ok()) << answer.status() << " for " << canonical;
    merged = i == 0 ? *answer : MergeTierAnswers(merged, *answer, hit_count_max);
  }
  return merged;
}

ExplainAnswer ExplainAll(const Tiers& tiers, const std::string& canonical, const TierAnswer& hits) {
  ExplainQuery query;
  query.set_query(canonical);
  for (const TierHit& hit : hits.hits()) query.add_doc_ids(hit.doc_id());
  ExplainAnswer merged;
  for (size_t i = 0; i < tiers.size(); ++i) {
    const auto answer = ExplainOperator(*tiers[i], query);
    EXPECT_TRUE(answer.ok()) << answer.status() << " for " << canonical;
    merged = i == 0 ? *answer : MergeExplainAnswers(merged, *answer);
  }
  return merged;
}

double SumOf(const DocumentExplanation& document) {
  double sum = document.static_rank_score();
  for (const WordExplanation& word : document.words()) sum += word.score();
  return sum;
}

TEST_P(IndexTierConformance, ExplainsTheScoreOfEachHitOrSaysThatItCannot) {
  std::mt19937_64 random(14);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 300), 3);
  int explained_count = 0;
  for (int i = 0; i < 100; ++i) {
    const auto query = ParseQuery(RandomQuery(random));
    ASSERT_TRUE(query.ok()) << query.status();
    const std::string canonical = Canonical(*query);
    const TierAnswer hits = AskAll(tiers, canonical, 10);
    if (hits.hits().empty()) continue;
    const ExplainAnswer explained = ExplainAll(tiers, canonical, hits);
    if (explained.cannot_explain_size() > 0) {
      EXPECT_EQ(explained.cannot_explain(0), variant());
      EXPECT_EQ(explained.documents_size(), 0);
      return;
    }
    std::map<uint64_t, const DocumentExplanation*> documents;
    for (const auto& document : explained.documents()) documents[document.doc_id()] = &document;
    for (const TierHit& hit : hits.hits()) {
      ASSERT_EQ(documents.count(hit.doc_id()), 1u) << canonical;
      const DocumentExplanation& document = *documents[hit.doc_id()];
      EXPECT_TRUE(document.matches()) << canonical;
      EXPECT_NEAR(SumOf(document), document.score(), 1e-5) << canonical;
      EXPECT_EQ(document.score(), hit.score()) << canonical;
      const float gain = document.proximity() + document.title() + document.lead();
      const bool is_rated = hit.gain() > 0;
      EXPECT_NEAR(is_rated ? gain : hit.gain(), hit.gain(), 5e-5) << canonical;
      ++explained_count;
    }
  }
  EXPECT_GT(explained_count, 200);
}

TEST_P(IndexTierConformance, CountsAllMatchesBySiteOrSaysThatItCannot) {
  std::mt19937_64 random(15);
  const std::vector<OwnedDocument> documents = RandomDocuments(random, 300);
  std::map<uint64_t, std::string> sites;
  for (const OwnedDocument& document : documents) sites[document.doc_id] = document.site;
  const Tiers tiers = BuildAndOpen(variant(), "index", documents, 3);
  for (int i = 0; i < 100; ++i) {
    const auto query = ParseQuery(RandomQuery(random));
    ASSERT_TRUE(query.ok()) << query.status();
    FacetQuery facets;
    facets.set_query(Canonical(*query));
    FacetAnswer merged;
    for (size_t tier = 0; tier < tiers.size(); ++tier) {
      const auto answer = FacetOperator(*tiers[tier], facets, {});
      ASSERT_TRUE(answer.ok()) << answer.status();
      merged = tier == 0 ? *answer : MergeFacetAnswers(merged, *answer);
    }
    EXPECT_TRUE(merged.is_complete());
    if (merged.cannot_count_size() > 0) {
      EXPECT_EQ(merged.cannot_count(0), variant());
      return;
    }
    std::map<std::string, uint64_t> expected;
    const TierAnswer found = AskAll(tiers, facets.query(), 300);
    for (const TierHit& hit : found.hits()) {
      if (!sites[hit.doc_id()].empty()) ++expected[sites[hit.doc_id()]];
    }
    std::map<std::string, uint64_t> counted;
    for (const FacetValue& value : merged.values()) counted[value.name()] = value.document_count();
    EXPECT_EQ(counted, expected) << facets.query();
  }
}

TEST_P(IndexTierConformance, CountsBySiteStopAtTheLimit) {
  std::mt19937_64 random(16);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 6000), 1);
  FacetQuery query;
  query.set_query("apple OR berry OR cherry");
  query.set_posting_count_max(1);
  const auto part = FacetOperator(*tiers[0], query, {});
  query.set_posting_count_max(0);
  const auto whole = FacetOperator(*tiers[0], query, {});
  ASSERT_TRUE(part.ok() && whole.ok());
  if (whole->cannot_count_size() > 0) return;
  EXPECT_FALSE(part->is_complete());
  EXPECT_TRUE(whole->is_complete());
  EXPECT_LE(part->total(), whole->total());
}

// Engines order by date and filter by fields, or refuse.
TEST_P(IndexTierConformance, OrdersByDateOrSaysThatItCannot) {
  std::mt19937_64 random(18);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 40), 1);
  TierQuery query;
  query.set_query("apple");
  query.set_hit_count_max(40);
  query.set_order_by_date(true);
  const auto answer = tiers[0]->Search(query, {});
  query.set_query("apple lang:en");
  const auto filtered = tiers[0]->Search(query, {});
  EXPECT_EQ(filtered.ok(), answer.ok());
  if (answer.status().code() == neptune::StatusCode::kInvalidArgument) return;
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->undated_count(), answer->total());
  for (int i = 1; i < answer->hits_size(); ++i) {
    EXPECT_LT(answer->hits(i - 1).doc_id(), answer->hits(i).doc_id());
  }
  EXPECT_EQ(filtered->total(), 0u);
}

TEST_P(IndexTierConformance, RefusesImpossibleRequestsForDetails) {
  std::mt19937_64 random(17);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 20), 1);
  ExplainQuery explain;
  explain.set_query("apple");
  const auto code = [&] { return ExplainOperator(*tiers[0], explain).status().code(); };
  EXPECT_EQ(code(), neptune::StatusCode::kInvalidArgument);
  for (int i = 0; i <= kExplainedDocumentsMax; ++i) explain.add_doc_ids(1);
  EXPECT_EQ(code(), neptune::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
