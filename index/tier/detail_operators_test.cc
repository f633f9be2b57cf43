#include <gtest/gtest.h>

#include <map>
#include <string>

#include "index/tier/explain_operators.h"
#include "index/tier/facet_operators.h"

namespace search::index {
namespace {

ExplainAnswer Explained(uint64_t doc_id, float score, bool matches = true) {
  ExplainAnswer answer;
  DocumentExplanation& document = *answer.add_documents();
  document.set_doc_id(doc_id);
  document.set_score(score);
  document.set_matches(matches);
  answer.set_index_version(7);
  return answer;
}

FacetAnswer Counted(const std::map<std::string, uint64_t>& counts) {
  FacetAnswer answer;
  answer.set_is_complete(true);
  answer.set_index_version(7);
  SetFacetValues(counts, &answer);
  for (const auto& [name, count] : counts) answer.set_total(answer.total() + count);
  return answer;
}

TEST(ExplainOperatorsTest, JoinsDocumentsInOrder) {
  ExplainAnswer other;
  other.add_cannot_explain("xapian");
  other.set_index_version(9);
  const ExplainAnswer two = MergeExplainAnswers(Explained(9, 1), Explained(4, 2));
  const ExplainAnswer all = MergeExplainAnswers(two, other);
  ASSERT_EQ(all.documents_size(), 2);
  EXPECT_EQ(all.documents(0).doc_id(), 4u);
  EXPECT_EQ(all.documents(1).doc_id(), 9u);
  ASSERT_EQ(all.cannot_explain_size(), 1);
  EXPECT_EQ(all.index_version(), 7u);
  EXPECT_EQ(all.SerializeAsString(), MergeExplainAnswers(other, two).SerializeAsString());
}

TEST(ExplainOperatorsTest, KeepsTheExplanationThatMatches) {
  const ExplainAnswer a = Explained(4, 5, false);
  const ExplainAnswer b = Explained(4, 3, true);
  EXPECT_EQ(MergeExplainAnswers(a, b).documents(0).score(), 3);
  EXPECT_EQ(MergeExplainAnswers(b, a).documents(0).score(), 3);
  EXPECT_EQ(MergeExplainAnswers(a, b).documents_size(), 1);
}

TEST(FacetOperatorsTest, AddsCountsInAnyOrder) {
  const FacetAnswer a = Counted({{"git", 3}, {"perl", 1}});
  const FacetAnswer b = Counted({{"perl", 4}, {"zsh", 2}});
  FacetAnswer c = Counted({});
  c.set_is_complete(false);
  c.add_cannot_count("xapian");
  const FacetAnswer all = MergeFacetAnswers(MergeFacetAnswers(a, b), c);
  EXPECT_EQ(all.SerializeAsString(),
            MergeFacetAnswers(c, MergeFacetAnswers(b, a)).SerializeAsString());
  ASSERT_EQ(all.values_size(), 3);
  EXPECT_EQ(all.values(1).name(), "perl");
  EXPECT_EQ(all.values(1).document_count(), 5u);
  EXPECT_EQ(all.total(), 10u);
  EXPECT_FALSE(all.is_complete());
  ASSERT_EQ(all.cannot_count_size(), 1);
}

TEST(FacetOperatorsTest, SaysWhatLeftOutSitesCanHave) {
  std::map<std::string, uint64_t> counts;
  for (uint64_t i = 0; i < kFacetValuesMax + 10; ++i) counts["s" + std::to_string(i)] = i + 1;
  const FacetAnswer answer = Counted(counts);
  EXPECT_EQ(answer.values_size(), static_cast<int>(kFacetValuesMax));
  EXPECT_EQ(answer.left_out_count_max(), 10u);
  for (const FacetValue& value : answer.values()) EXPECT_GT(value.document_count(), 10u);
  EXPECT_EQ(MergeFacetAnswers(answer, answer).left_out_count_max(), 20u);
}

}  // namespace
}  // namespace search::index
