#include "frontend/render/json/json_pages.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/render/json/answer_tree.h"
#include "frontend/render/samples/samples.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/utf8.h"

namespace search::frontend {
namespace {

using Json = nlohmann::json;

Json Rendered(const SearchAnswer& answer) { return Json::parse(json::AnswerDocument(answer)); }

TEST(JsonPagesTest, HasTheFieldsOfTheContract) {
  const SearchAnswer answer = samples::CompleteAnswer();
  const Json document = Rendered(answer);
  EXPECT_EQ(document["query"], answer.query);
  EXPECT_EQ(document["start"], 0);
  EXPECT_EQ(document["count"], 10);
  EXPECT_DOUBLE_EQ(document["took_ms"].get<double>(), 4.12);
  EXPECT_EQ(document["total"], 1'284);
  EXPECT_EQ(document["total_is_exact"], true);
  EXPECT_EQ(document["partial"], false);
  ASSERT_EQ(document["results"].size(), answer.results.size());
  const Json& first = document["results"][0];
  EXPECT_EQ(first["id"], "4711");
  EXPECT_EQ(first["url"], answer.results[0].url);
  EXPECT_EQ(first["title"], answer.results[0].title);
  EXPECT_EQ(first["score"].get<double>(), answer.results[0].score);
  EXPECT_EQ(first["cached_copy"], "/doc/4711");
}

// The snippet of a result of the document as pieces, from its text and its matches.
std::vector<std::pair<std::string, bool>> PiecesOf(const Json& result) {
  std::vector<std::string> code_points;
  const std::string snippet = result["snippet"];
  for (std::string_view text = snippet; !text.empty();) {
    const size_t size = neptune::DecodeCodePoint(text).size;
    code_points.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  std::vector<std::pair<std::string, bool>> pieces;
  size_t at = 0;
  const auto take = [&](size_t end, bool matches) {
    if (at == end) return;
    pieces.emplace_back("", matches);
    while (at < end) pieces.back().first += code_points.at(at++);
  };
  for (const Json& match : result["snippet_matches"]) {
    EXPECT_LT(match[0], match[1]);
    take(match[0], false);
    take(match[1], true);
  }
  take(code_points.size(), false);
  return pieces;
}

TEST(JsonPagesTest, MatchesAreRangesOfTheSnippet) {
  SearchAnswer answer = samples::CompleteAnswer();
  answer.results[0].snippet = {{"𝄞 is “", false}, {"naïve", true},   {"日", true},
                               {"", true},        {"” and ", false}, {"so", true}};
  const Json first = Rendered(answer)["results"][0];
  EXPECT_EQ(first["snippet"], "𝄞 is “naïve日” and so");
  EXPECT_EQ(first["snippet_matches"], (Json{{6, 11}, {11, 12}, {18, 20}}));
}

// The written document has the values of the tree, apart from what tells which words match.
void ExpectAsTree(const SearchAnswer& answer) {
  Json written = Rendered(answer);
  Json tree =
      Json::parse(json::AnswerTree(answer).dump(-1, ' ', false, Json::error_handler_t::replace));
  ASSERT_EQ(written["results"].size(), tree["results"].size());
  for (size_t i = 0; i < tree["results"].size(); ++i) {
    std::vector<std::pair<std::string, bool>> pieces;
    for (const Json& piece : tree["results"][i]["snippet_pieces"]) {
      if (piece["text"] != "") pieces.emplace_back(piece["text"], piece["matches_query"]);
    }
    EXPECT_EQ(PiecesOf(written["results"][i]), pieces);
    tree["results"][i].erase("snippet_pieces");
    written["results"][i].erase("snippet_matches");
  }
  EXPECT_EQ(written, tree) << Json::diff(tree, written);
}

TEST(JsonPagesTest, AnswersHaveTheValuesOfTheirTrees) {
  for (const SearchAnswer& answer :
       {samples::CompleteAnswer(), samples::DeepAnswer(), samples::PartialAnswer(),
        samples::NarrowedAnswer(), samples::GivenUpAnswer(), samples::DetailedAnswer(),
        samples::DatedAnswer(), samples::FoldedAnswer(), samples::CutAnswer(),
        samples::EmptyAnswer(), samples::MisspelledAnswer(), samples::CorrectedAnswer(),
        samples::RelaxedAnswer(), samples::BeyondEndAnswer(), samples::HostileAnswer()}) {
    ExpectAsTree(answer);
    SearchAnswer traced = answer;
    traced.with_trace = true;
    ExpectAsTree(traced);
  }
}

TEST(JsonPagesTest, OtherDocumentsHaveTheValuesOfTheirTrees) {
  const auto parsed = [](const nlohmann::ordered_json& tree) {
    return Json::parse(tree.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  for (const CachedDocument& document :
       {samples::UsualDocument(), samples::StructuredDocument(), samples::HostileDocument()}) {
    EXPECT_EQ(Json::parse(json::StoredDocument(document)), parsed(json::StoredTree(document)));
  }
  for (const ErrorAnswer& error :
       {samples::OverloadError(), samples::ParameterError(), samples::HostileError()}) {
    EXPECT_EQ(Json::parse(json::ProblemDocument(error)), parsed(json::ProblemTree(error)));
  }
  const std::vector<std::string> texts = samples::HostileTexts();
  for (const std::string& typed : texts) {
    EXPECT_EQ(Json::parse(json::SuggestionsDocument(typed, texts)),
              parsed(json::SuggestionsTree(typed, texts)));
  }
}

TEST(JsonPagesTest, IsOneLine) {
  const std::string text = json::AnswerDocument(samples::DetailedAnswer());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(text.find("\": "), text.npos);
}

TEST(JsonPagesTest, CoverageNamesWhatIsMissing) {
  const Json document = Rendered(samples::PartialAnswer());
  EXPECT_EQ(document["partial"], true);
  const Json& coverage = document["coverage"];
  EXPECT_EQ(coverage["complete"], false);
  EXPECT_EQ(coverage["partitions_asked"], 8);
  EXPECT_EQ(coverage["partitions_answered"], 6);
  EXPECT_DOUBLE_EQ(coverage["quality"].get<double>(), 0.75);
  EXPECT_EQ(coverage["tiers"][0]["missing"][0]["partition"], 2);
  EXPECT_EQ(coverage["tiers"][0]["missing"][0]["reason"], "no live replica");
  EXPECT_EQ(coverage["tiers"][1]["evaluated_completely"], false);
  EXPECT_EQ(coverage["documents"]["partitions_answered"], 1);
  EXPECT_EQ(coverage["cache"]["outcome"], "failed");
  EXPECT_EQ(document["results"][1]["has_summary"], false);
}

TEST(JsonPagesTest, ACorrectionLeadsToTheQueryAsTyped) {
  EXPECT_TRUE(Rendered(samples::CompleteAnswer())["corrected"].is_null());
  SearchAnswer answer = samples::CorrectedAnswer();
  answer.start = 10;
  const Json document = Rendered(answer);
  EXPECT_EQ(document["query"], "hahs tabel iterator");
  EXPECT_EQ(document["corrected"]["query"], "hash table iterator");
  EXPECT_EQ(document["corrected"]["as_typed"], "/search?q=hahs+tabel+iterator&format=json&spell=0");
  EXPECT_EQ(document["links"]["next"],
            "/search?q=hash+table+iterator&start=20&format=json&spell=0");
}

TEST(JsonPagesTest, PagesOfAQueryAsTypedStayAsTyped) {
  SearchAnswer answer = samples::CompleteAnswer();
  answer.may_correct = false;
  EXPECT_EQ(Rendered(answer)["links"]["next"],
            "/search?q=hash+table+iterator&start=10&format=json&spell=0");
}

TEST(JsonPagesTest, UnmetDemandsAreNamedAndLinked) {
  EXPECT_TRUE(Rendered(samples::CompleteAnswer())["relaxed"].is_null());
  const Json relaxed = Rendered(samples::RelaxedAnswer())["relaxed"];
  EXPECT_EQ(relaxed["demands"], Json{"\"hash tables iterate\""});
  EXPECT_EQ(relaxed["note"], UnmetSentence(samples::RelaxedAnswer()));
  EXPECT_EQ(relaxed["exactly"], "/search?q=%22hash+tables+iterate%22+-java&format=json&relax=0");
}

TEST(JsonPagesTest, PagesOfRunningTextStayRunningText) {
  SearchAnswer answer = samples::CompleteAnswer();
  answer.is_plain = true;
  EXPECT_EQ(Rendered(answer)["links"]["next"],
            "/search?q=hash+table+iterator&syntax=plain&start=10&format=json");
}

TEST(JsonPagesTest, GivenUpWordsAreListed) {
  const Json document = Rendered(samples::GivenUpAnswer());
  EXPECT_EQ(document["results"][1]["lacks"], Json{"iterator"});
  EXPECT_EQ(document["given_up"][0]["word"], "iterator");
  EXPECT_EQ(document["given_up"][0]["result_count"], 1);
  EXPECT_EQ(document["given_up"][0]["query"], "hash table +iterator");
  EXPECT_EQ(Rendered(samples::CompleteAnswer())["given_up"], Json::array());
}

TEST(JsonPagesTest, DetailsAreThereIfAskedFor) {
  const Json plain = Rendered(samples::CompleteAnswer());
  EXPECT_FALSE(plain.contains("facets"));
  EXPECT_FALSE(plain["results"][0].contains("explanation"));
  const Json document = Rendered(samples::DetailedAnswer());
  const Json& sites = document["facets"]["site"];
  EXPECT_EQ(sites["is_exact"], false);
  EXPECT_EQ(sites["left_out_count"], 3);
  EXPECT_EQ(sites["values"][0]["value"], "git-doc");
  EXPECT_EQ(sites["values"][0]["count"], 1'020);
  EXPECT_EQ(sites["values"][0]["link"],
            "/search?q=hash+table+iterator+site%3Agit-doc&format=json&facets=site");
  EXPECT_EQ(sites["values"][1]["is_filter"], true);
  EXPECT_FALSE(sites["values"][1].contains("link"));
  const Json& explanation = document["results"][0]["explanation"];
  EXPECT_EQ(explanation["words"][0]["term"], "hash");
  EXPECT_EQ(explanation["words"][0]["frequencies"]["body"], 14);
  EXPECT_EQ(explanation["second_phase"]["proximity"], 1.5);
  EXPECT_EQ(explanation["is_current"], false);
  EXPECT_FALSE(document["results"][1].contains("explanation"));
  EXPECT_NE(document["explanation_note"], "");
}

TEST(JsonPagesTest, ResultsByDateHaveDaysAndNoScores) {
  const Json document = Rendered(samples::DatedAnswer());
  EXPECT_EQ(document["sorted_by"], "date");
  EXPECT_EQ(document["results"][0]["date"], "2024-03-05");
  EXPECT_TRUE(document["results"][0]["score"].is_null());
  EXPECT_EQ(document["narrowed_by"][0]["kind"], "field");
  EXPECT_EQ(document["links"]["next"],
            "/search?q=hash+table+iterator&start=10&format=json&sort=date");
  EXPECT_EQ(Rendered(samples::CompleteAnswer())["sorted_by"], "relevance");
}

TEST(JsonPagesTest, PartitionsEndedEarlyAreListed) {
  const Json document = Rendered(samples::CutAnswer());
  EXPECT_EQ(document["partial"], true);
  const Json& tier = document["coverage"]["tiers"][0];
  EXPECT_EQ(tier["partitions_answered"], 4);
  EXPECT_EQ(tier["missing"], Json::array());
  EXPECT_EQ(tier["evaluated_completely"], false);
  EXPECT_EQ(tier["ended_early"], (Json{1, 3}));
  EXPECT_EQ(Rendered(samples::PartialAnswer())["coverage"]["tiers"][0]["ended_early"],
            Json::array());
}

TEST(JsonPagesTest, LinksToTheNeighbouringPages) {
  const Json links = Rendered(samples::DeepAnswer())["links"];
  EXPECT_EQ(links["previous"], "/search?q=hash+table+iterator&start=210&format=json");
  EXPECT_EQ(links["next"], "/search?q=hash+table+iterator&start=230&format=json");
}

TEST(JsonPagesTest, HostileTextStaysText) {
  const Json document = Rendered(samples::HostileAnswer());
  EXPECT_EQ(document["results"][0]["title"], "<script>alert(1)</script>");
  EXPECT_EQ(document["results"].size(), samples::HostileTexts().size());
}

TEST(JsonPagesTest, ScoreThatIsNoNumberIsNull) {
  SearchAnswer answer = samples::CompleteAnswer();
  answer.results[0].score = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Rendered(answer)["results"][0]["score"].is_null());
}

TEST(JsonPagesTest, ProblemHasTheMembersOfRfc9457) {
  const Json problem = Json::parse(json::ProblemDocument(samples::ParameterError()));
  EXPECT_EQ(problem["type"], "about:blank");
  EXPECT_EQ(problem["status"], 400);
  EXPECT_EQ(problem["title"], "This address cannot be answered");
  EXPECT_EQ(problem["parameter"], "start");
  EXPECT_FALSE(problem.contains("retry_after_s"));
}

}  // namespace
}  // namespace search::frontend
