#include "tools/evaluate/served_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using frontend::SearchAnswer;
using frontend::SearchPageRequest;
using neptune::StatusOr;
using neptune::StrCat;

// A search that has `total` results for every query: u:0, u:1, ...
FetchPage SearchWith(uint32_t total) {
  return [total](const SearchPageRequest& request) -> StatusOr<SearchAnswer> {
    SearchAnswer answer;
    for (uint32_t i = request.start; i < std::min(total, request.start + request.count); ++i) {
      answer.results.push_back({.doc_id = StrCat(i), .url = StrCat("u:", i), .score = 1});
    }
    return answer;
  };
}

std::vector<std::string> Documents(const ServedList& list) {
  return DocumentsInOrder(list.entries);
}

TEST(ServedSearchTest, PagesToTheDepthInTheServedOrder) {
  const auto list = ReadPages("q", {.depth = 250}, SearchWith(1000));
  ASSERT_TRUE(list.ok()) << list.status();
  const std::vector<std::string> documents = Documents(*list);
  ASSERT_EQ(documents.size(), 250u);
  for (size_t i = 0; i < documents.size(); ++i) EXPECT_EQ(documents[i], StrCat("u:", i));
}

TEST(ServedSearchTest, EndsWithAPageThatIsNotFull) {
  int page_count = 0;
  const FetchPage search = SearchWith(130);
  const auto list = ReadPages("q", {.depth = 1000}, [&](const SearchPageRequest& request) {
    ++page_count;
    return search(request);
  });
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->entries.size(), 130u);
  EXPECT_EQ(page_count, 2);
}

TEST(ServedSearchTest, AsksForAllResultsOrForFoldedPages) {
  std::vector<SearchPageRequest> requests;
  const FetchPage fetch = [&](const SearchPageRequest& request) {
    requests.push_back(request);
    StatusOr<SearchAnswer> answer = SearchWith(1000)(request);
    // Two results of the first folded page are behind others.
    if (request.folds() && request.start == 0) answer->covered_count = request.count + 2;
    return answer;
  };
  ASSERT_TRUE(ReadPages("q", {.depth = 20}, fetch).ok());
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].fold, false);
  EXPECT_EQ(requests[0].count, 20u);
  requests.clear();
  const auto list = ReadPages("q", {.depth = 20, .folds = true}, fetch);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->entries.size(), 20u);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].fold, true);
  EXPECT_EQ(requests[1].start, 12u);
  EXPECT_EQ(requests[1].first, 12u);
  EXPECT_EQ(Documents(*list)[10], "u:12");
}

TEST(ServedSearchTest, AsksAsTypedOrAsRunningText) {
  std::vector<SearchPageRequest> requests;
  const FetchPage fetch = [&](const SearchPageRequest& request) {
    requests.push_back(request);
    return SearchWith(150)(request);
  };
  ASSERT_TRUE(AskAll({{"1", "a \"b c\""}}, {}, fetch).ok());
  ASSERT_TRUE(AskAll({{"1", "a \"b c\""}}, {.depth = 130, .is_plain = true}, fetch).ok());
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_FALSE(requests[0].is_plain);
  EXPECT_TRUE(requests[1].is_plain && requests[2].is_plain) << "every page";
  EXPECT_EQ(requests[2].query, "a \"b c\"");
}

TEST(ServedSearchTest, NamesDocumentsAsJudgmentsDo) {
  const auto list =
      ReadPages("q", {.depth = 10}, [](const SearchPageRequest&) -> StatusOr<SearchAnswer> {
        SearchAnswer answer;
        answer.results = {{.doc_id = "1", .url = "id:17"},
                          {.doc_id = "2", .url = "doc:git-doc/git.html"},
                          {.doc_id = "3", .url = "", .has_summary = false}};
        return answer;
      });
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(Documents(*list),
            (std::vector<std::string>{"17", "doc:git-doc/git.html", "unknown:3"}));
}

TEST(ServedSearchTest, CountsEmptyAndPartialAnswers) {
  const FetchPage fetch = [](const SearchPageRequest& request) -> StatusOr<SearchAnswer> {
    SearchAnswer answer;
    if (request.query != "empty") answer.results = {{.doc_id = "1", .url = "u:1"}};
    if (request.query == "partial") {
      answer.coverage.tiers = {
          {.service = "tier 1", .partitions_asked = 4, .missing = {{2, "late"}}}};
    }
    return answer;
  };
  const auto run =
      AskAll({{"1", "empty"}, {"2", "whole"}, {"3", "partial"}, {"4", "whole"}}, {}, fetch);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->query_count, 4u);
  EXPECT_EQ(run->empty_count, 1u);
  EXPECT_EQ(run->partial_count, 1u);
  EXPECT_TRUE(run->lists.at("1").empty());
}

TEST(ServedSearchTest, AsksNoMoreAtATimeThanAllowed) {
  std::vector<JudgedQuery> queries;
  for (int i = 0; i < 200; ++i) queries.push_back({StrCat(i), "q"});
  std::atomic<int> under_way = 0;
  std::atomic<int> most = 0;
  const FetchPage search = SearchWith(5);
  const auto run = AskAll(queries, {.concurrency = 3}, [&](const SearchPageRequest& request) {
    const int now = ++under_way;
    int before = most;
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
    auto answer = search(request);
    --under_way;
    return answer;
  });
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->query_count, 200u);
  EXPECT_LE(most, 3);
}

TEST(ServedSearchTest, AnErrorNamesItsQuery) {
  const auto run = AskAll({{"7", "q"}}, {}, [](const SearchPageRequest&) -> StatusOr<SearchAnswer> {
    return neptune::Unavailable("gone");
  });
  EXPECT_EQ(run.status().code(), neptune::StatusCode::kUnavailable);
  EXPECT_NE(run.status().ToString().find("query 7"), std::string::npos) << run.status();
}

TEST(ServedSearchTest, RefusesOptionsOutOfRange) {
  const FetchPage search = SearchWith(1);
  for (const ServedSearchOptions& options :
       {ServedSearchOptions{.depth = 9}, ServedSearchOptions{.depth = 1001},
        ServedSearchOptions{.concurrency = 0}, ServedSearchOptions{.concurrency = 17}}) {
    EXPECT_EQ(AskAll({{"1", "q"}}, options, search).status().code(),
              neptune::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace search::tools
