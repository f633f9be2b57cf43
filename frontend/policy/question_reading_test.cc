#include "frontend/policy/question_reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/core/query/synonyms.h"

namespace search::frontend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

QuestionReading Read(const QuestionText& question, const index::SynonymSets* synonyms = nullptr) {
  const auto reading = ReadQuestion(question, synonyms);
  EXPECT_TRUE(reading.ok()) << reading.status();
  return reading.ok() ? *reading : QuestionReading();
}

TEST(QuestionReadingTest, ReadsTheQueryLanguage) {
  const QuestionReading reading = Read({.text = "+stash lists \"hash map\" site:git -java"});
  EXPECT_EQ(reading.canonical, "stash ~list \"hash map\" site:git -java");
  EXPECT_THAT(reading.site_filters, ElementsAre("git"));
  ASSERT_THAT(reading.narrowings, SizeIs(2));
  EXPECT_EQ(reading.narrowings[1].query_without, "+stash lists \"hash map\" site:git");
  EXPECT_THAT(reading.words, SizeIs(4));
  EXPECT_THAT(reading.unmet_demands, IsEmpty());
}

TEST(QuestionReadingTest, RelaxedDemandsAreNamed) {
  const QuestionReading reading =
      Read({.text = "lists \"hash map\" site:git -java", .is_relaxed = true});
  EXPECT_EQ(reading.canonical, "(list OR hash OR map) site:git -java");
  EXPECT_THAT(reading.unmet_demands, ElementsAre("\"hash map\""));
  EXPECT_THAT(reading.narrowings, SizeIs(2));
  const QuestionReading same = Read({.text = "git stash", .is_relaxed = true});
  EXPECT_THAT(same.unmet_demands, IsEmpty());
  EXPECT_EQ(same.canonical, "");
}

TEST(QuestionReadingTest, NothingInRunningTextIsAnOperator) {
  const QuestionReading reading =
      Read({.text = "the \"hash map\" -java site:git +x1 (y1 OR z1", .is_plain = true});
  EXPECT_THAT(reading.canonical, testing::HasSubstr("hash OR map OR "));
  EXPECT_THAT(reading.canonical, testing::Not(testing::HasSubstr("\"hash")));
  EXPECT_THAT(reading.narrowings, IsEmpty());
  EXPECT_THAT(reading.site_filters, IsEmpty());
  EXPECT_THAT(reading.notes, ElementsAre(testing::HasSubstr("Common words were left out: the")));
  EXPECT_THAT(Read({.text = "\"hash map\"", .is_plain = true, .is_relaxed = true}).unmet_demands,
              IsEmpty());
}

TEST(QuestionReadingTest, BothLanguagesHaveSynonyms) {
  const auto sets = index::SynonymSets::Parse("0.5: pg, postgres\n");
  ASSERT_TRUE(sets.ok());
  EXPECT_EQ(Read({.text = "pg x1"}, &*sets).canonical, "pg OR postgr^0.5 OR x1");
  EXPECT_EQ(Read({.text = "\"pg\" x1", .is_plain = true}, &*sets).canonical,
            "pg OR postgr^0.5 OR x1");
}

TEST(QuestionReadingTest, RefusesTextOverALimit) {
  for (const bool is_plain : {false, true}) {
    const auto reading =
        ReadQuestion({.text = std::string(5000, 'x'), .is_plain = is_plain}, nullptr);
    EXPECT_EQ(reading.status().code(), neptune::StatusCode::kInvalidArgument);
    EXPECT_TRUE(neptune::ToStd(reading.status().message()).starts_with("parameter q: "));
  }
}

}  // namespace
}  // namespace search::frontend
