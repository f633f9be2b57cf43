#include "frontend/policy/explained_scores.h"

#include <gtest/gtest.h>

#include <vector>

namespace search::frontend {
namespace {

using index::DocumentExplanation;
using index::ExplainAnswer;

SearchAnswer AnswerOf(const std::vector<SearchResult>& results) {
  SearchAnswer answer;
  answer.results = results;
  return answer;
}

// 0.5 of the static rank, 3 and 1 of words; gains 0.25, 0.125 and 0.125.
ExplainAnswer Explained(uint64_t doc_id) {
  ExplainAnswer answer;
  DocumentExplanation& document = *answer.add_documents();
  document.set_doc_id(doc_id);
  document.set_matches(true);
  document.set_static_rank_score(0.5F);
  for (const auto& [term, score] : {std::pair{"hash", 3.0F}, std::pair{"tabl", 1.0F}}) {
    index::WordExplanation& word = *document.add_words();
    word.set_term(term);
    word.set_percent(80);
    word.set_score(score);
    for (const uint32_t frequency : {1, 2, 3}) word.add_frequencies(frequency);
  }
  document.set_score(4.5F);
  document.set_proximity(0.25F);
  document.set_title(0.125F);
  document.set_lead(0.125F);
  return answer;
}

TEST(ExplainedScoresTest, PartsAddUpToTheScoreWithTheGainThatCounts) {
  SearchAnswer rated = AnswerOf({{.doc_id = "7", .score = 5, .gain = 0.5}});
  AdoptExplanations(Explained(7), true, {}, &rated);
  ASSERT_TRUE(rated.results[0].explanation.has_value());
  EXPECT_EQ(rated.results[0].explanation->score, 5);
  EXPECT_TRUE(rated.results[0].explanation->is_rated);
  EXPECT_TRUE(rated.results[0].explanation->is_current);
  EXPECT_EQ(rated.explanation_note, "");

  SearchAnswer unrated = AnswerOf({{.doc_id = "7", .score = 4.5}});
  AdoptExplanations(Explained(7), true, {}, &unrated);
  EXPECT_EQ(unrated.results[0].explanation->score, 4.5);
  EXPECT_FALSE(unrated.results[0].explanation->is_rated);
  EXPECT_TRUE(unrated.results[0].explanation->is_current);
}

TEST(ExplainedScoresTest, NamesWordsAsTyped) {
  SearchAnswer answer = AnswerOf({{.doc_id = "7", .score = 4.5}});
  AdoptExplanations(Explained(7), true, {{.term = "tabl", .surface = "tables"}}, &answer);
  const ScoreExplanation& explanation = *answer.results[0].explanation;
  ASSERT_EQ(explanation.words.size(), 2u);
  EXPECT_EQ(explanation.words[0].word, "");
  EXPECT_EQ(explanation.words[1].word, "tables");
  EXPECT_EQ(explanation.words[1].share, 0.8);
  EXPECT_EQ(explanation.words[1].frequencies[2], 3u);
}

TEST(ExplainedScoresTest, SaysIfTheSumIsNotTheScore) {
  SearchAnswer answer = AnswerOf({{.doc_id = "7", .score = 4.6}});
  AdoptExplanations(Explained(7), true, {}, &answer);
  EXPECT_FALSE(answer.results[0].explanation->is_current);
}

TEST(ExplainedScoresTest, SaysWhyResultsAreNotExplained) {
  SearchAnswer answer = AnswerOf({{.doc_id = "7", .score = 4.5}, {.doc_id = "8"}, {.doc_id = "9"}});
  AdoptExplanations(Explained(7), false, {}, &answer);
  EXPECT_FALSE(answer.results[1].explanation.has_value());
  EXPECT_EQ(answer.explanation_note,
            "2 results are not explained: parts of the index did not answer in time.");
  ExplainAnswer none;
  none.add_cannot_explain("xapian");
  SearchAnswer other = AnswerOf({{.doc_id = "7"}});
  AdoptExplanations(none, true, {}, &other);
  EXPECT_EQ(other.explanation_note,
            "1 result is not explained: the index engine xapian does not explain scores.");
}

}  // namespace
}  // namespace search::frontend
