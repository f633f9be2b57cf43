#include "frontend/policy/given_up_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/core/query/query.h"
#include "index/core/query/synonyms.h"

namespace search::frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The answer to a question whose hits lack these words, all of them rated and on the page.
SearchAnswer AnswerOf(const std::string& question, const std::vector<uint64_t>& lacks) {
  SearchAnswer answer;
  answer.query = question;
  for (const uint64_t lacked : lacks) {
    answer.results.emplace_back().lacked_bits = lacked;
  }
  NameGivenUpWords(index::ScoringWords(*index::ParseQuestion(question)), &answer);
  return answer;
}

TEST(GivenUpWordsTest, NamesWantedWordsByResultAndByPage) {
  const SearchAnswer answer = AnswerOf("git +stash Lists", {0, 0b101, 0b100});
  EXPECT_THAT(answer.results[0].lacks, IsEmpty());
  EXPECT_THAT(answer.results[1].lacks, ElementsAre("git", "Lists"));
  ASSERT_THAT(answer.given_up, SizeIs(2));
  EXPECT_EQ(answer.given_up[1].word, "Lists");
  EXPECT_EQ(answer.given_up[1].result_count, 2u);
  EXPECT_EQ(answer.given_up[1].demanding, "git +stash +Lists");
}

TEST(GivenUpWordsTest, IgnoresWhatTheUserOfferedAsAlternatives) {
  for (const char* question : {"mutex OR lock", "mutex deadlock OR lock", "+mutex (lock OR guard)",
                               "(mutex OR lock) (guard OR latch)"}) {
    const SearchAnswer answer = AnswerOf(question, {0b10, 0b01, 0b110});
    EXPECT_THAT(answer.given_up, IsEmpty()) << question;
    EXPECT_THAT(answer.results[0].lacks, IsEmpty()) << question;
  }
  const SearchAnswer answer = AnswerOf("+mutex (lock OR guard) latch", {0b1000});
  EXPECT_THAT(answer.results[0].lacks, ElementsAre("latch"));
}

TEST(GivenUpWordsTest, TakesAWordAndItsSynonymsForOne) {
  const auto sets = index::SynonymSets::Parse("0.6: pg, psql, post gres");
  ASSERT_TRUE(sets.ok());
  // Beside a demanded word the words of a phrase are optional one by one.
  for (const char* question : {"pg vacuum", "pg +vacuum"}) {
    auto query = index::ParseQuestion(question);
    sets->Expand(&*query);
    const std::vector<index::ScoringWord> words = index::ScoringWords(*query);
    ASSERT_THAT(words, SizeIs(5));
    SearchAnswer answer;
    answer.query = question;
    for (const uint64_t lacked : {0b1111, 0b0001, 0b1101, 0b0011, 0b0111, 0b1110}) {
      answer.results.emplace_back().lacked_bits = lacked;
    }
    NameGivenUpWords(words, &answer);
    ASSERT_THAT(answer.given_up, SizeIs(1)) << question;
    EXPECT_EQ(answer.given_up[0].word, "pg");
    EXPECT_EQ(answer.given_up[0].result_count, 2u) << question;
  }
}

TEST(GivenUpWordsTest, DemandsInTheQueryThatWasSearched) {
  SearchAnswer answer{.query = "gti stash"};
  answer.corrected_query = "git stash";
  answer.results.emplace_back().lacked_bits = 0b10;
  NameGivenUpWords(index::ScoringWords(*index::ParseQuestion("git stash")), &answer);
  ASSERT_THAT(answer.given_up, SizeIs(1));
  EXPECT_EQ(answer.given_up[0].demanding, "git +stash");
}

TEST(GivenUpWordsTest, NamesAtMostALimitedNumber) {
  std::string question;
  for (int i = 0; i < 70; ++i) question += "w" + std::to_string(i) + " ";
  const SearchAnswer answer = AnswerOf(question, {~uint64_t{0}});
  EXPECT_THAT(answer.given_up, SizeIs(kGivenUpWordsMax));
  EXPECT_THAT(answer.results[0].lacks, SizeIs(kGivenUpWordsMax));
}

// What the link of the question's first scoring word with this term asks.
std::string DemandingOf(const std::string& question, const std::string& term) {
  for (const index::ScoringWord& word : index::ScoringWords(*index::ParseQuestion(question))) {
    if (word.term == term) return Demanding(question, word);
  }
  return "no such word";
}

TEST(DemandingTest, PutsAPlusBeforeTheWord) {
  EXPECT_EQ(DemandingOf("git stash", "stash"), "git +stash");
  EXPECT_EQ(DemandingOf("git stash stash", "stash"), "git +stash stash");
}

TEST(DemandingTest, PutsTheWordBeforeABracketIfItDoesNotStandAlone) {
  EXPECT_EQ(DemandingOf("git (stash list)", "stash"), "+stash (git (stash list))");
  EXPECT_EQ(DemandingOf("std::vector list", "vector"), "+vector (std::vector list)");
  EXPECT_EQ(DemandingOf("git stash OR svn shelve", "shelv"), "+shelve (git stash OR svn shelve)");
}

TEST(DemandingTest, AsksNothingThatDoesNotDemandTheWord) {
  std::string longest = "stash";
  while (longest.size() < index::ParseLimits().query_size_max) longest += " ";
  EXPECT_EQ(DemandingOf(longest, "stash"), "");
  EXPECT_EQ(Demanding("", {}), "");
}

}  // namespace
}  // namespace search::frontend
