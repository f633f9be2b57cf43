// Tests the front of the frontend over HTTP in a simulated cluster: repeated pages, equal questions
// at the same time, answers that live shortly, and the switch to another version of the index.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const char kCommon[] = "/search?q=common&format=json";

double TierCalls(SimulatedSearch& search) { return search.CallCount("tier1", "tier1", "Search"); }
double Lookups(SimulatedSearch& search) { return search.CallCount("cache", "cache", "Lookup"); }

double Repeated(SimulatedSearch& search) {
  return search.Metric("search_page_cache_lookups_total", {{"outcome", "hit"}});
}

// Asks until the page is kept: for the cache, for the page, and once more.
TimedResponse GetRepeated(SimulatedSearch& search, const std::string& target) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(search.Get(target).http.status, 200);
    search.RunFor(milliseconds(100));
  }
  return search.Get(target);
}

TEST(FrontendFrontTest, APageIsRepeatedOnceItsAnswerWasInTheCache) {
  SimulatedSearch search(1);
  const TimedResponse computed = search.Get(kCommon);
  EXPECT_EQ(computed.http.headers.Get("Cache-Status"), "answers; fwd=miss");
  EXPECT_FALSE(computed.http.headers.Has("Age"));
  search.RunFor(milliseconds(100));
  const TimedResponse cached = search.Get(kCommon);
  EXPECT_EQ(cached.http.headers.Get("Cache-Status"), "answers; hit");
  EXPECT_EQ(cached.http.headers.Get("Age"), "1");
  const double lookups = Lookups(search);
  search.RunFor(seconds(10));
  const TimedResponse repeated = search.Get(kCommon);
  EXPECT_EQ(repeated.http.status, 200);
  EXPECT_EQ(repeated.http.body, cached.http.body);
  EXPECT_EQ(repeated.http.headers.Get("Age"), "11");
  EXPECT_EQ(repeated.http.headers.Get("Cache-Status"), "pages; hit; ttl=588");
  EXPECT_EQ(repeated.http.headers.Get("Content-Type"), cached.http.headers.Get("Content-Type"));
  EXPECT_EQ(repeated.http.headers.Get("Vary"), cached.http.headers.Get("Vary"));
  EXPECT_NE(repeated.http.headers.Get("traceparent"), cached.http.headers.Get("traceparent"));
  EXPECT_EQ(Lookups(search), lookups);
  EXPECT_EQ(TierCalls(search), 2);
  EXPECT_EQ(Repeated(search), 1);
  EXPECT_EQ(JsonAnswer(repeated)["coverage"]["cache"]["hit"], true);
}

TEST(FrontendFrontTest, RepetitionsCountAsSearches) {
  SimulatedSearch search(2);
  GetRepeated(search, kCommon);
  EXPECT_EQ(
      search.Metric("search_http_requests_total", {{"format", "json"}, {"outcome", "complete"}}),
      3);
  EXPECT_EQ(search.Metric("search_http_seconds", {{"format", "json"}}), 3);
  const json traces = JsonBody(search.Get("/tracez?format=json"));
  int seen = 0;
  for (const json& kind : traces["kinds"]) {
    if (kind["kind"].get<std::string>().ends_with(" ms")) seen += kind["seen"].get<int>();
  }
  EXPECT_EQ(seen, 3) << traces.dump();
}

TEST(FrontendFrontTest, AFreshAnswerIsComputedAndReplacesThePage) {
  SimulatedSearch search(3);
  GetRepeated(search, kCommon);
  const TimedResponse fresh = search.Get(kCommon, {{"Cache-Control", "no-cache"}});
  EXPECT_EQ(fresh.http.headers.Get("Cache-Status"), "answers; fwd=bypass");
  EXPECT_EQ(TierCalls(search), 4);
  EXPECT_EQ(search.Metric("search_page_cache_lookups_total", {{"outcome", "skipped"}}), 1);
  search.RunFor(milliseconds(100));
  EXPECT_EQ(search.Get(kCommon).http.headers.Get("Cache-Status"), "answers; hit")
      << "the older page is forgotten";
}

TEST(FrontendFrontTest, EachFormatAndCodingHasAPageOfItsOwn) {
  SimulatedSearch search(4);
  const char target[] = "/search?q=common&fold=0";
  const neptune::HttpHeaders as_json = {{"Accept", "application/json"}};
  GetRepeated(search, target);
  const TimedResponse other = search.Get(target, as_json);
  EXPECT_TRUE(other.http.headers.Get("Content-Type").starts_with("application/json"));
  EXPECT_EQ(search.Get(target, as_json).http.headers.Get("Cache-Status").substr(0, 5), "pages");
  EXPECT_TRUE(search.Get(target).http.headers.Get("Content-Type").starts_with("text/html"));
  EXPECT_EQ(search.Get(target, {{"Accept-Encoding", "gzip"}}).http.headers.Get("Cache-Status"),
            "answers; hit");
}

TEST(FrontendFrontTest, ACodingThatOneClientAcceptsIsNotSentToAnother) {
  SimulatedSearch search(28);
  for (int i = 0; i < 3; ++i) {
    const TimedResponse both =
        search.Get(kCommon, {{"Accept-Encoding", "identity"}, {"Accept-Encoding", "gzip"}});
    EXPECT_EQ(both.http.headers.Get("Cache-Status").substr(0, 7), "answers") << i;
    search.RunFor(milliseconds(100));
  }
  EXPECT_FALSE(search.Get(kCommon).http.headers.Has("Content-Encoding"));
}

TEST(FrontendFrontTest, FeedsAreKeptByTheAddressTheyNameThemselves) {
  SimulatedSearch search(5);
  const TimedResponse feed = GetRepeated(search, "/search?q=common&format=atom");
  EXPECT_EQ(feed.http.headers.Get("Cache-Status").substr(0, 5), "pages");
  EXPECT_NE(feed.http.body.find("http://search.test/"), std::string::npos);
}

TEST(FrontendFrontTest, HeadIsAnsweredFromThePageToo) {
  SimulatedSearch search(6);
  GetRepeated(search, kCommon);
  const TimedResponse head = search.Get(kCommon, {}, "HEAD");
  EXPECT_EQ(head.http.status, 200);
  EXPECT_EQ(head.http.body, "");
  EXPECT_EQ(head.http.headers.Get("Cache-Status").substr(0, 5), "pages");
}

TEST(FrontendFrontTest, PagesOfOneSearchAreNotRepeated) {
  SimulatedSearch search(7);
  for (const char* more : {"&trace=1", "&explain=1"}) {
    GetRepeated(search, StrCat(kCommon, more));
    EXPECT_EQ(Repeated(search), 0) << more;
  }
}

TEST(FrontendFrontTest, AnUnknownKeyIsRefusedAlthoughThereIsAPage) {
  SimulatedSearch search(8);
  GetRepeated(search, kCommon);
  EXPECT_EQ(search.Get(kCommon, {{"X-Api-Key", "unknown"}}).http.status, 401);
}

TEST(FrontendFrontTest, APageIsNotRepeatedBeyondItsLife) {
  SimulatedSearch search(9, Parameter("cache_time_to_live_ms", "5000"));
  EXPECT_EQ(GetRepeated(search, kCommon).http.headers.Get("Cache-Status").substr(0, 5), "pages");
  search.RunFor(milliseconds(4000));
  EXPECT_EQ(search.Get(kCommon).http.headers.Get("Cache-Status").substr(0, 7), "answers");
}

TEST(FrontendFrontTest, WithoutAPageCacheNothingIsRepeated) {
  SimulatedSearch search(10, Parameter("page_cache_mb", "0"));
  EXPECT_EQ(GetRepeated(search, kCommon).http.headers.Get("Cache-Status"), "answers; hit");
  EXPECT_EQ(search.Metric("search_page_cache_entries", {}), 0);
}

TEST(FrontendFrontTest, EqualQuestionsAtTheSameTimeAreComputedOnce) {
  SimulatedSearch search(11);
  std::vector<std::shared_ptr<TimedResponse>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(search.Begin(i % 2 == 0 ? kCommon : "/search?q=%20COMMON&format=json"));
  }
  search.RunFor(seconds(1));
  int computed = 0;
  for (const auto& one : all) {
    const json answer = JsonAnswer(*one);
    EXPECT_EQ(answer["results"], JsonAnswer(*all[0])["results"]);
    EXPECT_EQ(answer["coverage"]["tiers"], JsonAnswer(*all[0])["coverage"]["tiers"]);
    computed += one->http.headers.Get("Cache-Status") == "answers; fwd=miss";
  }
  EXPECT_EQ(JsonAnswer(*all[1])["query"], " COMMON");
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(TierCalls(search), 2);
  EXPECT_EQ(search.Metric("search_equal_searches_total", {{"outcome", "joined"}}), 19);
}

TEST(FrontendFrontTest, PagesOfAQuestionAreDifferentQuestions) {
  SimulatedSearch search(12);
  const auto first = search.Begin(kCommon);
  const auto second = search.Begin(StrCat(kCommon, "&start=10"));
  search.RunFor(seconds(1));
  EXPECT_NE(JsonAnswer(*first)["results"], JsonAnswer(*second)["results"]);
}

TEST(FrontendFrontTest, AReloadDoesNotWaitForAnEarlierSearch) {
  SimulatedSearch search(13);
  search.Begin(kCommon);
  const auto fresh = search.Begin(kCommon, {{"Cache-Control", "no-cache"}});
  search.RunFor(seconds(1));
  EXPECT_EQ(fresh->http.headers.Get("Cache-Status"), "answers; fwd=bypass");
  EXPECT_EQ(TierCalls(search), 4);
}

TEST(FrontendFrontTest, AnErrorOfTheQuestionIsThatOfAllWhoAsk) {
  SimulatedSearch search(14);
  std::vector<std::shared_ptr<TimedResponse>> all;
  for (int i = 0; i < 5; ++i) all.push_back(search.Begin("/search?q=forbid&format=json"));
  search.RunFor(seconds(1));
  for (const auto& one : all) EXPECT_EQ(one->http.status, 400);
  EXPECT_EQ(search.CallCount("tier1", "tier1", "Search", "failed"), 2);
}

TEST(FrontendFrontTest, ARefusedSearchFailsNoOther) {
  SimulatedSearch search(15);
  std::vector<std::shared_ptr<TimedResponse>> all;
  for (int i = 0; i < 3; ++i) all.push_back(search.Begin("/search?q=overload&format=json"));
  search.RunFor(seconds(2));
  for (const auto& one : all) EXPECT_EQ(one->http.status, 503);
  EXPECT_EQ(search.Metric("search_equal_searches_total", {{"outcome", "taken_over"}}), 2);
}

TEST(FrontendFrontTest, APartialAnswerIsCachedForAMoment) {
  // The cache says that each entry is 1.2 s old.
  SimulatedSearch search(16, Parameter("cache_partial_time_to_live_ms", "3000"));
  const char target[] = "/search?q=common&format=json&count=5";
  search.Get(kCommon);  // teaches the version of the index
  search.simulator().Pause("tier1-1");
  EXPECT_EQ(JsonAnswer(search.Get(target))["partial"], true);
  search.RunFor(milliseconds(100));
  const TimedResponse again = search.Get(target);
  const json partial = JsonAnswer(again);
  EXPECT_EQ(partial["partial"], true);
  EXPECT_EQ(partial["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(partial["coverage"]["tiers"][0]["missing"][0]["partition"], 1);
  EXPECT_LT(again.took, milliseconds(50));
  EXPECT_EQ(search.Get(target).http.headers.Get("Cache-Status"), "pages; hit; ttl=1");
  search.simulator().Resume("tier1-1");
  search.RunFor(seconds(3));
  EXPECT_EQ(JsonAnswer(search.Get(target))["partial"], false);
}

TEST(FrontendFrontTest, APartialAnswerOfAReloadReplacesNoWholeOne) {
  SimulatedSearch search(17, Parameter("cache_partial_time_to_live_ms", "30000"));
  const char target[] = "/search?q=common&format=json&count=5";
  EXPECT_EQ(JsonAnswer(search.Get(target))["partial"], false);
  search.RunFor(milliseconds(100));
  search.simulator().Pause("tier1-1");
  EXPECT_EQ(JsonAnswer(search.Get(target, {{"Cache-Control", "no-cache"}}))["partial"], true);
  search.RunFor(milliseconds(100));
  EXPECT_EQ(JsonAnswer(search.Get(target))["partial"], false);
  search.simulator().Resume("tier1-1");
}

TEST(FrontendFrontTest, AnEmptyAnswerLivesLess) {
  SimulatedSearch search(18, Parameter("cache_empty_time_to_live_ms", "4000"));
  const char target[] = "/search?q=nowhere&format=json";
  EXPECT_EQ(GetRepeated(search, target).http.headers.Get("Cache-Status"), "pages; hit; ttl=2");
  search.RunFor(seconds(5));
  EXPECT_EQ(JsonAnswer(search.Get(target))["coverage"]["cache"]["hit"], false);
}

// A list of index versions that the frontend polls.
class VersionedSearch {
 public:
  explicit VersionedSearch(uint64_t seed, const std::string& parameters = "")
      : path_(StrCat(testing::TempDir(), "/versions_", getpid(), "_", seed, ".json")) {
    Write(1, "a", {"a"});
    search_.emplace(seed, StrCat(Parameter("versions", path_), parameters));
  }
  ~VersionedSearch() {
    search_.reset();
    unlink(path_.c_str());
  }

  SimulatedSearch& search() { return *search_; }
  SimulatedSearch* operator->() { return &*search_; }

  // Versions "a", "b" and "c" have the numbers 101, 102, 103.
  void Write(int change, const std::string& current, const std::vector<std::string>& names) {
    json list = {{"format_version", 1}, {"change", change}, {"current", current}, {"previous", ""}};
    for (const std::string& name : names) {
      list["versions"].push_back(
          {{"name", name}, {"folder", "."}, {"index_version", 101 + name[0] - 'a'}});
    }
    std::ofstream(path_) << list.dump();
  }
  void Change(int change, const std::string& current, const std::vector<std::string>& names) {
    Write(change, current, names);
    search_->RunFor(milliseconds(500));
  }
  double Prepared(const std::string& outcome) {
    return search_->Metric("search_prepared_answers_total", {{"outcome", outcome}});
  }
  // The change of the list that counts as taken.
  uint64_t ShownChange() {
    const json page = JsonBody(search_->Get("/statusz?format=json"));
    for (const json& section : page["sections"]) {
      if (section["name"] == "index versions of frontend") return section["facts"]["change"];
    }
    ADD_FAILURE() << page.dump();
    return 0;
  }

 private:
  const std::string path_;
  std::optional<SimulatedSearch> search_;
};

TEST(FrontendFrontTest, AfterASwitchTheFormerAnswerIsGivenWhileTheNewOneIsComputed) {
  VersionedSearch versions(20);
  SimulatedSearch& search = versions.search();
  EXPECT_EQ(JsonAnswer(GetRepeated(search, kCommon))["index_version"], 101);
  versions.Change(2, "b", {"a", "b"});
  const TimedResponse stale = search.Get(kCommon);
  EXPECT_LT(stale.took, milliseconds(10));
  const json former = JsonAnswer(stale);
  EXPECT_EQ(former["index_version"], 101);
  EXPECT_EQ(former["coverage"]["cache"]["stale"], true);
  EXPECT_NE(former["notes"].dump().find("The index was replaced"), std::string::npos);
  EXPECT_EQ(stale.http.headers.Get("Cache-Status"), "answers; hit; ttl=0; detail=stale");
  search.RunFor(milliseconds(200));
  EXPECT_EQ(search.Metric("search_refreshes_total", {{"outcome", "done"}}), 1);
  EXPECT_EQ(search.Get(kCommon).http.headers.Get("Cache-Status"), "pages; hit; ttl=0; detail=stale")
      << "the page of the former answer is repeated for a moment";
  search.RunFor(seconds(1));
  const json current = JsonAnswer(search.Get(kCommon));
  EXPECT_EQ(current["index_version"], 102);
  EXPECT_EQ(current["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(current["coverage"]["cache"]["stale"], false);
  EXPECT_EQ(search.Metric("search_stale_answers_total", {}), 1);
}

TEST(FrontendFrontTest, EveryFormatSaysThatAnAnswerIsStale) {
  VersionedSearch versions(21);
  // Each format asks another question, because the first answer that is stale is computed again.
  const std::vector<std::string> targets = {"/search?q=common&format=html",
                                            "/search?q=rare&format=rss",
                                            "/search?q=common+rare&format=atom"};
  for (const std::string& target : targets) GetRepeated(versions.search(), target);
  versions.Change(2, "b", {"a", "b"});
  for (const std::string& target : targets) {
    EXPECT_NE(versions->Get(target).http.body.find("of the former index"), std::string::npos)
        << target;
  }
}

TEST(FrontendFrontTest, FormerAnswersAreGivenForABoundedTime) {
  VersionedSearch versions(22, Parameter("stale_answers_ms", "3000"));
  GetRepeated(versions.search(), kCommon);
  versions.Change(2, "b", {"a", "b"});
  versions->RunFor(seconds(4));
  EXPECT_EQ(JsonAnswer(versions->Get(kCommon))["index_version"], 102);
  EXPECT_EQ(versions->Metric("search_stale_answers_total", {}), 0);
}

TEST(FrontendFrontTest, FormerAnswersCanBeSwitchedOff) {
  VersionedSearch versions(23, Parameter("stale_answers_ms", "0"));
  GetRepeated(versions.search(), kCommon);
  versions.Change(2, "b", {"a", "b"});
  EXPECT_EQ(JsonAnswer(versions->Get(kCommon))["index_version"], 102);
}

TEST(FrontendFrontTest, AVersionThatIsTakenBackFindsItsAnswers) {
  VersionedSearch versions(24);
  GetRepeated(versions.search(), kCommon);
  versions.Change(2, "b", {"a", "b"});
  versions->Get(kCommon);
  versions->RunFor(seconds(2));
  EXPECT_EQ(JsonAnswer(versions->Get(kCommon))["index_version"], 102);
  versions.Change(3, "a", {"a", "b"});
  const json back = JsonAnswer(versions->Get(kCommon));
  EXPECT_EQ(back["index_version"], 101);
  EXPECT_EQ(back["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(back["coverage"]["cache"]["stale"], false);
}

TEST(FrontendFrontTest, AListedVersionIsPreparedBeforeItBecomesCurrent) {
  VersionedSearch versions(25);
  SimulatedSearch& search = versions.search();
  GetRepeated(search, kCommon);
  GetRepeated(search, "/search?q=rare&format=json");
  versions.Change(2, "a", {"a", "b"});
  search.RunFor(seconds(1));
  EXPECT_EQ(versions.Prepared("computed"), 2);
  EXPECT_EQ(versions.ShownChange(), 2u);
  EXPECT_EQ(JsonAnswer(search.Get(kCommon))["index_version"], 101);
  const double calls = TierCalls(search);
  versions.Change(3, "b", {"a", "b"});
  const json switched = JsonAnswer(search.Get(kCommon));
  EXPECT_EQ(switched["index_version"], 102);
  EXPECT_EQ(switched["coverage"]["cache"]["hit"], true);
  EXPECT_EQ(switched["coverage"]["cache"]["stale"], false);
  EXPECT_EQ(TierCalls(search), calls);
}

TEST(FrontendFrontTest, AListCountsAsTakenOnceItsVersionIsPrepared) {
  VersionedSearch versions(26);
  GetRepeated(versions.search(), kCommon);
  versions->simulator().Pause("tier1-1");
  versions.Change(2, "a", {"a", "b"});
  EXPECT_EQ(versions.ShownChange(), 1u) << "a partition does not answer yet";
  versions->simulator().Resume("tier1-1");
  versions->RunFor(seconds(5));
  EXPECT_EQ(versions.ShownChange(), 2u);
  EXPECT_EQ(versions.Prepared("computed"), 1);
}

TEST(FrontendFrontTest, ASwitchDoesNotWaitForThePreparation) {
  VersionedSearch versions(27);
  GetRepeated(versions.search(), kCommon);
  versions->simulator().Pause("tier1-1");
  versions.Change(2, "a", {"a", "b"});
  versions.Change(3, "b", {"a", "b"});
  EXPECT_EQ(versions.ShownChange(), 3u);
  versions->simulator().Resume("tier1-1");
  versions->Get(kCommon);  // of the former index
  versions->RunFor(seconds(5));
  EXPECT_EQ(JsonAnswer(versions->Get(kCommon))["index_version"], 102);
}

}  // namespace
}  // namespace search::frontend
