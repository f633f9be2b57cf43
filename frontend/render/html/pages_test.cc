#include "frontend/render/html/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/render/html/static_files.h"
#include "frontend/render/render.h"
#include "frontend/render/samples/html_check.h"
#include "frontend/render/samples/samples.h"
#include "frontend/render/wording/address.h"
#include "index/core/query/examples.h"

namespace search::frontend {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string ResultPage(const SearchAnswer& answer) { return html::ResultPage(answer, Site{}); }

std::string Texts(const std::string& page, std::string_view tag) {
  std::string all;
  for (const std::string& text : HtmlTexts(page, tag)) all += text + "\n";
  return all;
}

TEST(PagesTest, EveryPageIsWellFormedSafeAndLabelled) {
  for (const auto& [name, page] : samples::AllHtmlPages()) {
    EXPECT_THAT(HtmlProblems(page.body), IsEmpty()) << name;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  }
}

TEST(PagesTest, EveryPageLoadsOnlyStaticFiles) {
  for (const auto& [name, page] : samples::AllHtmlPages()) {
    EXPECT_THAT(HtmlAttributes(page.body, "src"), IsEmpty()) << name;
    for (const StaticFile& file : StaticFiles()) {
      EXPECT_THAT(HtmlAttributes(page.body, "href"), Contains(std::string(file.path))) << name;
    }
  }
}

TEST(PagesTest, EveryPageNamesTheOpenSearchDescription) {
  for (const auto& [name, page] : samples::AllHtmlPages()) {
    EXPECT_THAT(page.body, HasSubstr("<link rel=\"search\" "
                                     "type=\"application/opensearchdescription+xml\""))
        << name;
  }
}

TEST(PagesTest, SearchBoxKeepsTheQueryAndTheCount) {
  SearchAnswer answer = samples::CompleteAnswer();
  answer.count = 25;
  const auto values = HtmlAttributes(ResultPage(answer), "value");
  EXPECT_THAT(values, ElementsAre("hash table iterator", "25"));
}

TEST(PagesTest, WebResultsLinkToTheirAddressAndOthersToOurCopy) {
  const auto links = HtmlAttributes(ResultPage(samples::CompleteAnswer()), "href");
  EXPECT_THAT(links, Contains("https://docs.python.org/3.11/library/collections.abc.html"));
  EXPECT_THAT(links, Contains("/doc/8112?q=hash+table+iterator"));
  EXPECT_THAT(links, Contains("/doc/4711?q=hash+table+iterator"));
  EXPECT_THAT(links, Not(Contains(HasSubstr("doc:"))));
}

TEST(PagesTest, MatchesAreMarked) {
  const auto marks = HtmlTexts(ResultPage(samples::CompleteAnswer()), "mark");
  EXPECT_THAT(marks, Contains("hash"));
  EXPECT_THAT(marks, Contains("iterator"));
}

TEST(PagesTest, PagesAreLinked) {
  const std::string page = ResultPage(samples::DeepAnswer());
  const auto links = HtmlAttributes(page, "href");
  EXPECT_THAT(links, Contains("/search?q=hash+table+iterator"));
  EXPECT_THAT(links, Contains("/search?q=hash+table+iterator&start=210"));
  EXPECT_THAT(links, Contains("/search?q=hash+table+iterator&start=230"));
  EXPECT_THAT(HtmlAttributes(page, "aria-current"), ElementsAre("page"));
}

TEST(PagesTest, CoverageHasALineAndATable) {
  const std::string page = ResultPage(samples::DeepAnswer());
  EXPECT_EQ(Texts(page, "summary"),
            "Searched 8 of 8 partitions, tier 1 and tier 2, cached, 0.8 ms\n");
  EXPECT_THAT(Texts(page, "table"), HasSubstr("Tier 24 of 4nonesegments"));
}

TEST(PagesTest, PartialAnswerSaysSo) {
  const std::string page = ResultPage(samples::PartialAnswer());
  EXPECT_THAT(HtmlAttributes(page, "role"), Contains("status"));
  EXPECT_THAT(Texts(page, "main"), HasSubstr("This answer is incomplete."));
  EXPECT_THAT(Texts(page, "li"),
              HasSubstr("Tier 1, partition 2, did not answer (no live replica)"));
  EXPECT_THAT(Texts(page, "main"), HasSubstr("Document 8112"));
}

TEST(PagesTest, PartitionsEndedEarlyAreShown) {
  const std::string page = ResultPage(samples::CutAnswer());
  EXPECT_THAT(HtmlAttributes(page, "role"), Contains("status"));
  EXPECT_THAT(Texts(page, "main"), HasSubstr("This answer is incomplete."));
  EXPECT_THAT(Texts(page, "li"), HasSubstr("Tier 1, partitions 1 and 3, cut this search short"));
  EXPECT_THAT(Texts(page, "td"), HasSubstr("part of 1 and 3 (ended early)"));
  EXPECT_THAT(Texts(page, "main"), Not(HasSubstr("ran out of time")));
}

TEST(PagesTest, GivenUpWordsAreNamedAndCanBeDemanded) {
  const std::string page = ResultPage(samples::GivenUpAnswer());
  EXPECT_THAT(Texts(page, "main"), HasSubstr("Not every result has all words."));
  EXPECT_THAT(Texts(page, "s"), HasSubstr("iterator"));
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains(HasSubstr("/search?q=hash+table+%2Biterator")));
}

TEST(PagesTest, SitesAreChipsThatNarrowTheQuestion) {
  const std::string page = ResultPage(samples::DetailedAnswer());
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains("/search?q=hash+table+iterator+site%3Agit-doc&facets=site"));
  EXPECT_THAT(HtmlAttributes(page, "aria-label"),
              Contains("Only site git-doc: 1,020 documents or more"));
  EXPECT_THAT(Texts(page, "nav"), HasSubstr("zsh≥ 7"));
  EXPECT_THAT(Texts(page, "p"), HasSubstr("Counting ended early"));
  EXPECT_THAT(Texts(page, "p"), HasSubstr("3 more sites have fewer documents each."));
  EXPECT_THAT(HtmlAttributes(ResultPage(samples::CompleteAnswer()), "href"),
              Contains("/search?q=hash+table+iterator&facets=site"));
}

TEST(PagesTest, ExplainedScoresAreTables) {
  const std::string page = ResultPage(samples::DetailedAnswer());
  EXPECT_THAT(Texts(page, "summary"), HasSubstr("Score 11.4820\n"));
  EXPECT_THAT(Texts(page, "tr"),
              HasSubstr("hashweight 3.1000 (in 812 documents) × saturation 0.9000 of frequency "
                        "0.0000: title 1, body 14, links 28.5000"));
  EXPECT_THAT(Texts(page, "th"), HasSubstr("iterator (iter), in titles"));
  EXPECT_THAT(Texts(page, "tr"), HasSubstr("sum11.4820"));
  EXPECT_THAT(Texts(page, "p"), HasSubstr("has changed since the search"));
  EXPECT_THAT(Texts(page, "p"), HasSubstr("4 results are not explained"));
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains("/search?q=hash+table+iterator&start=10&explain=1&facets=site"));
  EXPECT_THAT(HtmlAttributes(ResultPage(samples::CompleteAnswer()), "href"),
              Contains("/search?q=hash+table+iterator&explain=1"));
}

TEST(PagesTest, ResultsByDateShowTheirDays) {
  const std::string page = ResultPage(samples::DatedAnswer());
  EXPECT_THAT(HtmlAttributes(page, "datetime"), Contains("2024-03-05"));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hash+table+iterator"));
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains("/search?q=hash+table+iterator&start=10&sort=date"));
  EXPECT_THAT(Texts(page, "a"), HasSubstr("Order by relevance"));
  EXPECT_THAT(Texts(page, "a"), Not(HasSubstr("Explain the scores")));
  EXPECT_THAT(HtmlAttributes(page, "aria-label"), Contains("Take back: only after:2020"));
  const auto sorts_by_date = Contains("/search?q=hash+table+iterator&sort=date");
  SearchAnswer by_relevance = samples::DatedAnswer();
  by_relevance.by_date = false;
  EXPECT_THAT(HtmlAttributes(ResultPage(by_relevance), "href"), sorts_by_date);
  EXPECT_THAT(HtmlAttributes(ResultPage(samples::CompleteAnswer()), "href"), Not(sorts_by_date));
}

TEST(PagesTest, CompleteAnswerHasNoBanner) {
  EXPECT_THAT(HtmlAttributes(ResultPage(samples::CompleteAnswer()), "role"),
              Not(Contains("status")));
}

TEST(PagesTest, NoResultsComeWithAdvice) {
  const std::string page = ResultPage(samples::EmptyAnswer());
  EXPECT_THAT(Texts(page, "h2"), HasSubstr("No document matches"));
  EXPECT_THAT(Texts(page, "li"), HasSubstr("Check the spelling"));
}

TEST(PagesTest, AnotherSpellingIsLinked) {
  const std::string page = ResultPage(samples::MisspelledAnswer());
  EXPECT_THAT(Texts(page, "p"), HasSubstr("Did you mean hash table iterator?"));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hash+table+iterator"));
  EXPECT_THAT(ResultPage(samples::EmptyAnswer()), Not(HasSubstr("Did you mean")));
}

TEST(PagesTest, ACorrectionLeadsToTheQueryAsTyped) {
  const std::string page = ResultPage(samples::CorrectedAnswer());
  EXPECT_THAT(Texts(page, "p"), HasSubstr("Showing results for hash table iterator. "
                                          "Search instead for hahs tabel iterator."));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hahs+tabel+iterator&spell=0"));
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains("/search?q=hash+table+iterator&start=10&spell=0"));
  EXPECT_THAT(HtmlAttributes(page, "value"), Contains("hahs tabel iterator"));
  EXPECT_THAT(page, Not(HasSubstr("Did you mean")));
}

TEST(PagesTest, UnmetDemandsAreNamedAndLinked) {
  const std::string page = ResultPage(samples::RelaxedAnswer());
  EXPECT_THAT(Texts(page, "p"),
              HasSubstr("contains the phrase \"hash tables iterate\". These pages have some of the "
                        "words. Search for exactly this"));
  EXPECT_THAT(HtmlAttributes(page, "href"),
              Contains("/search?q=%22hash+tables+iterate%22+-java&relax=0"));
  EXPECT_THAT(ResultPage(samples::CompleteAnswer()), Not(HasSubstr("some of the words")));
}

TEST(PagesTest, ThePolicyAllowsTheOnlyScript) {
  // The build computes the hash of the script.
  EXPECT_THAT(std::string(ContentSecurityPolicy()), HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(std::string(ContentSecurityPolicy()), Not(HasSubstr("unsafe")));
  for (const auto& [name, page] : samples::AllHtmlPages()) {
    EXPECT_THAT(HtmlTexts(page.body, "script"), ElementsAre(std::string(CompletionScriptText())))
        << name;
  }
}

TEST(PagesTest, NoResultsOfAPartialAnswerAreNotClaimedForAll) {
  SearchAnswer answer = samples::EmptyAnswer();
  answer.coverage.tiers[0].missing = {{1, "no live replica"}};
  EXPECT_THAT(Texts(ResultPage(answer), "h2"), HasSubstr("In the partitions that answered"));
  answer.coverage.tiers[0].missing.clear();
  answer.coverage.tiers[0].evaluated_completely = false;
  EXPECT_THAT(Texts(ResultPage(answer), "h2"), HasSubstr("In the time there was, no document"));
}

TEST(PagesTest, WhatNarrowsTheResultsCanBeTakenBack) {
  SearchAnswer answer = samples::NarrowedAnswer();
  const std::string page = ResultPage(answer);
  EXPECT_THAT(Texts(page, "li"), HasSubstr("without java"));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hash+table+site%3Acppreference"));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hash+table+-java"));
  EXPECT_THAT(HtmlAttributes(page, "aria-label"), Contains("Take back: only site cppreference"));
  answer.narrowings = {{false, "git", " "}};
  EXPECT_THAT(HtmlAttributes(ResultPage(answer), "aria-label"),
              Contains("Take back: only site git"));
}

TEST(PagesTest, BeyondTheEndLeadsBack) {
  const std::string page = ResultPage(samples::BeyondEndAnswer());
  EXPECT_THAT(Texts(page, "h2"), HasSubstr("no results this far down"));
  EXPECT_THAT(HtmlAttributes(page, "href"), Contains("/search?q=hash+table+iterator&start=30"));
}

// An answer with the hostile text in every field; the page must have the same skeleton as with "x".
SearchAnswer AnswerSaying(const std::string& text) {
  SearchAnswer answer = samples::PartialAnswer();
  answer.query = text;
  answer.notes = {text};
  answer.narrowings = {{true, text, text}, {false, text, ""}};
  answer.corrected_query = text;
  answer.did_you_mean = text;
  answer.results = {{.doc_id = "d" + text,
                     .url = "https://host.example/",
                     .title = "t" + text,
                     .site = "s" + text,
                     .snippet = {{text, false}, {text, true}}}};
  for (ServiceCoverage& tier : answer.coverage.tiers) {
    tier.service = text;
    tier.implementation = "i" + text;
    tier.missing[0].reason = text;
  }
  return answer;
}

TEST(PagesTest, NoTextOfAnAnswerChangesTheShapeOfThePage) {
  const std::string expected = HtmlSkeleton(ResultPage(AnswerSaying("x")));
  for (const std::string& text : samples::HostileTexts()) {
    EXPECT_EQ(HtmlSkeleton(ResultPage(AnswerSaying(text))), expected) << text;
  }
}

TEST(PagesTest, NoTextOfADocumentChangesTheShapeOfItsPage) {
  const auto page = [](const std::string& text) {
    return html::DocumentPage({.doc_id = text,
                               .url = "https://host.example/" + std::to_string(text.size()),
                               .title = "t" + text,
                               .text = text,
                               .query = text},
                              Site{});
  };
  for (const std::string& text : samples::HostileTexts()) {
    EXPECT_EQ(HtmlSkeleton(page(text)), HtmlSkeleton(page("x"))) << text;
  }
}

TEST(PagesTest, UnsafeAddressesNeverBecomeLinks) {
  for (const char* url : {"javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x",
                          "//evil.example", "\tjavascript:alert(1)", "vbscript:x"}) {
    SearchAnswer answer = samples::CompleteAnswer();
    for (SearchResult& result : answer.results) result.url = url;
    EXPECT_THAT(HtmlProblems(ResultPage(answer)), IsEmpty());
    EXPECT_THAT(HtmlAttributes(ResultPage(answer), "href"), Not(Contains(url)));
    const std::string copy = html::DocumentPage({.doc_id = "1", .url = url, .title = "x"}, Site{});
    EXPECT_THAT(HtmlAttributes(copy, "href"), Not(Contains(url)));
  }
}

TEST(PagesTest, LongDocumentIsCutAndSaysSo) {
  const CachedDocument document = {.doc_id = "1",
                                   .url = "https://a.example/",
                                   .title = "long",
                                   .text = std::string(kCachedTextSizeMax + 5, 'x')};
  const std::string page = html::DocumentPage(document, Site{});
  EXPECT_LT(page.size(), kCachedTextSizeMax + 10'000);
  EXPECT_THAT(page, HasSubstr("its last 5 bytes are not shown"));
}

TEST(PagesTest, AStructuredDocumentKeepsItsElements) {
  const std::string page = html::DocumentPage(samples::StructuredDocument(), Site{});
  EXPECT_THAT(HtmlProblems(page), IsEmpty());
  EXPECT_THAT(HtmlTexts(page, "h2"), ElementsAre("NAME"));
  EXPECT_THAT(HtmlTexts(page, "pre"), Contains(HasSubstr("list\n\ngit")));
  EXPECT_THAT(HtmlTexts(page, "th"), ElementsAre("Option"));
  const auto links = HtmlAttributes(page, "href");
  EXPECT_THAT(links, Contains("/doc/18?q=stash"));
  EXPECT_THAT(links, Contains("https://git-scm.com/docs/git-stash"));
  EXPECT_THAT(links, Contains("#m1"));
  EXPECT_THAT(page, HasSubstr("7 matches are marked."));
}

TEST(PagesTest, WhatIsFoldedCanBeReached) {
  const SearchAnswer answer = samples::FoldedAnswer();
  const std::string page = ResultPage(answer);
  EXPECT_THAT(HtmlProblems(page), IsEmpty());
  EXPECT_THAT(HtmlTexts(page, "summary"), Contains("2 similar pages"));
  const auto links = HtmlAttributes(page, "href");
  EXPECT_THAT(links, Contains(CachedCopyPath("4712", answer.query)));
  EXPECT_THAT(links, Contains(SearchPath({.query = answer.query + " site:python3.11-doc"})));
  EXPECT_THAT(links, Contains(SearchPath({.query = answer.query, .fold = false})));
  EXPECT_THAT(links, Contains("https://en.cppreference.com/w/cpp/container/unordered_map"));
}

TEST(PagesTest, HelpExplainsAndLinksEveryExample) {
  const std::string page = html::HelpPage(Site{});
  const auto links = HtmlAttributes(page, "href");
  for (const index::QueryExample& example : index::QueryExamples()) {
    EXPECT_THAT(HtmlTexts(page, "code"), Contains(std::string(example.syntax)));
    EXPECT_THAT(links, Contains(SearchPath({.query = std::string(example.query)})));
  }
}

TEST(PagesTest, ErrorSaysWhatIsWrongAndKeepsTheQuery) {
  const std::string page = html::ErrorPage(samples::OverloadError(), Site{});
  EXPECT_THAT(Texts(page, "h1"), HasSubstr("Too busy to search"));
  EXPECT_THAT(Texts(page, "main"), HasSubstr("Try again in 2 seconds."));
  EXPECT_THAT(HtmlAttributes(page, "value"), ElementsAre("hash table iterator"));
}

}  // namespace
}  // namespace search::frontend
