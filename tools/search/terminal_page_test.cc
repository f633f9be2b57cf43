#include "tools/search/terminal_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/render/render.h"
#include "frontend/render/samples/samples.h"
#include "tools/search/answer_reader.h"

namespace search::tools {
namespace {

using frontend::SearchAnswer;
using testing::HasSubstr;
using testing::Not;

namespace samples = frontend::samples;

// The answer as it arrives over the wire.
SearchAnswer Transferred(const SearchAnswer& answer) {
  const auto page = frontend::RenderAnswer(answer, frontend::PageFormat::kJson, {});
  const auto read = ReadAnswer(page.body);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : SearchAnswer();
}

std::string Page(const SearchAnswer& answer, bool has_colours = false, int width = 80) {
  return TerminalPage(
      Transferred(answer),
      {.width = width, .has_colours = has_colours, .base_url = "http://127.0.0.1:8080"});
}

TEST(TerminalPageTest, ShowsResultsAndCoverage) {
  const std::string page = Page(samples::CompleteAnswer());
  EXPECT_THAT(page, HasSubstr("1–5 of 1,284 results for hash table iterator\n"));
  EXPECT_THAT(page, HasSubstr("  1. std::unordered_map - cppreference.com\n"));
  EXPECT_THAT(page, HasSubstr("     https://docs.python.org/3.11/library/collections.abc.html\n"));
  EXPECT_THAT(page, HasSubstr("http://127.0.0.1:8080/doc/4711\n"));
  EXPECT_THAT(page, HasSubstr("Searched 4 of 4 partitions, tier 1 only, not cached, 4.1 ms\n"));
  EXPECT_THAT(page, HasSubstr("Next page: --start=10\n"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(TerminalPageTest, NumbersGoOnOnLaterPages) {
  EXPECT_THAT(Page(samples::DeepAnswer()), HasSubstr("221. std::unordered_map"));
}

TEST(TerminalPageTest, PartialAnswerSaysWhatIsMissing) {
  const std::string page = Page(samples::PartialAnswer(), false, 200);
  EXPECT_THAT(page, HasSubstr("This answer is incomplete.\n"));
  EXPECT_THAT(page, HasSubstr("- Tier 1, partition 2, did not answer (no live replica)"));
  EXPECT_THAT(page, HasSubstr("title and summary are missing"));
}

TEST(TerminalPageTest, ACutIsShownAsOne) {
  EXPECT_EQ(Transferred(samples::CutAnswer()).coverage.tiers[0].ended_early,
            (std::vector<uint32_t>{1, 3}));
  EXPECT_THAT(Page(samples::CutAnswer(), false, 200),
              HasSubstr("- Tier 1, partitions 1 and 3, cut this search short"));
}

TEST(TerminalPageTest, DetailsAreShownIfTheyAreThere) {
  const std::string page = Page(samples::DetailedAnswer(), false, 200);
  EXPECT_THAT(page, HasSubstr("Sites: git-doc ≥ 1,020, zsh ≥ 7, and 3 more\n"));
  EXPECT_THAT(page, HasSubstr("score 11.4820 ≠ 0.7500 rank + 8.5000 hash + 0.0000 title:iter + "
                              "1.5000 proximity + 0.7320 of the title + 0.0000 lead\n"));
  EXPECT_THAT(page, HasSubstr("4 results are not explained"));
  EXPECT_THAT(Page(samples::CompleteAnswer()), Not(HasSubstr("score")));
}

TEST(TerminalPageTest, DaysAreShownIfResultsAreOrderedByThem) {
  const std::string page = Page(samples::DatedAnswer(), false, 200);
  EXPECT_THAT(page, HasSubstr("collections.abc.html · 2024-03-05\n"));
  EXPECT_THAT(page, HasSubstr("Only: after:2020\n"));
}

TEST(TerminalPageTest, NoResultsAreAnAnswer) {
  EXPECT_THAT(Page(samples::EmptyAnswer()), HasSubstr("No results for title:zyzzyva"));
}

TEST(TerminalPageTest, MatchesAreColouredOnlyIfAsked) {
  EXPECT_THAT(Page(samples::CompleteAnswer(), true), HasSubstr("\x1b[1;33mhash\x1b[0m"));
}

TEST(TerminalPageTest, DocumentsCannotCommandTheTerminal) {
  const std::string page = Page(samples::HostileAnswer());
  for (char c : page) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  EXPECT_THAT(page, Not(HasSubstr("\x7f")));
  EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xAE")));
}

TEST(TerminalPageTest, AnotherSpellingIsShown) {
  EXPECT_THAT(Page(samples::MisspelledAnswer()), HasSubstr("Did you mean: hash table iterator\n"));
  EXPECT_THAT(Page(samples::EmptyAnswer()), Not(HasSubstr("Did you mean")));
}

TEST(TerminalPageTest, ACorrectionIsSaid) {
  const std::string page = Page(samples::CorrectedAnswer());
  EXPECT_THAT(page, HasSubstr("Showing results for: hash table iterator\n"));
  EXPECT_THAT(page, HasSubstr("--spell=false searches for: hahs tabel iterator\n"));
}

TEST(AnswerReaderTest, KeepsWhatWasSent) {
  const SearchAnswer sent = samples::PartialAnswer();
  const SearchAnswer read = Transferred(sent);
  EXPECT_EQ(read.query, sent.query);
  EXPECT_EQ(read.took, sent.took);
  EXPECT_EQ(read.total, sent.total);
  EXPECT_EQ(read.total_is_exact, sent.total_is_exact);
  ASSERT_EQ(read.results.size(), sent.results.size());
  EXPECT_EQ(read.results[0].snippet, sent.results[0].snippet);
  EXPECT_EQ(read.coverage.partitions_answered(), sent.coverage.partitions_answered());
  EXPECT_EQ(read.coverage.complete(), false);
  EXPECT_EQ(read.coverage.cache.outcome, sent.coverage.cache.outcome);
}

TEST(AnswerReaderTest, KeepsTheOtherSpelling) {
  EXPECT_EQ(Transferred(samples::MisspelledAnswer()).did_you_mean, "hash table iterator");
  EXPECT_EQ(Transferred(samples::EmptyAnswer()).did_you_mean, "");
  EXPECT_EQ(Transferred(samples::CorrectedAnswer()).corrected_query, "hash table iterator");
}

TEST(AnswerReaderTest, KeepsWhatNarrowsTheResults) {
  const SearchAnswer read = Transferred(samples::NarrowedAnswer());
  ASSERT_EQ(read.narrowings.size(), 2u);
  EXPECT_TRUE(read.narrowings[0].is_exclusion);
  EXPECT_EQ(read.narrowings[0].text, "java");
  EXPECT_EQ(read.narrowings[1].query_without, "hash table -java");
}

TEST(AnswerReaderTest, RefusesWhatIsNoAnswer) {
  for (const char* body : {"", "<html>", "[]", "{}", "{\"results\":1,\"query\":\"x\"}", "null"}) {
    EXPECT_FALSE(ReadAnswer(body).ok()) << body;
  }
}

TEST(AnswerReaderTest, TakesFieldsOfWrongTypesAsMissing) {
  const auto answer = ReadAnswer(
      R"({"query":"x","results":[1,{"id":7,"snippet_pieces":{}}],"total":-4,"took_ms":"no",
          "coverage":[],"count":null,"start":1e99})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->results.size(), 2u);
  EXPECT_EQ(answer->total, 0u);
  EXPECT_EQ(answer->start, 0u);
}

TEST(AnswerReaderTest, ProblemsBecomeStatuses) {
  const auto problem = ReadProblem(503, R"({"title":"Too busy","detail":"try later"})");
  EXPECT_EQ(problem.code(), neptune::StatusCode::kUnavailable);
  EXPECT_EQ(problem.message(), "Too busy: try later");
  EXPECT_EQ(ReadProblem(400, "<html>").message(), "HTTP status 400");
}

}  // namespace
}  // namespace search::tools
