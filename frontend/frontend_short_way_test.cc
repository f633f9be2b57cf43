// The two ways of a repeated page, over HTTP in a simulated cluster: from the bytes of a request,
// and through the server's parser and the gateway. They give the same bytes, count and log the
// same, and hold to the same limits.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/json_answer.h"
#include "frontend/testing/simulated_search.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kClasses[] = R"(
    service_classes { name: 'gold' api_keys: 'gold-key-of-a-test' } service_classes { name: 'rest' })";
constexpr char kTrace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
// A header that decides nothing, and is not plain: its request takes the ordinary way.
constexpr char kUnusual[] = "X-Way: \xc3\xa4\r\n";

double ShortAnswers(SimulatedSearch& search) {
  return search.Metric("neptune_http_short_answers_total", {{"server", "frontend"}});
}

// All that is sent, with a trace of its own that is random replaced.
std::string Comparable(const std::string& answer) {
  static const std::regex kRandom("\r\ntraceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]\r\n");
  return answer.find(kTrace) == answer.npos ? std::regex_replace(answer, kRandom, "\r\nT\r\n")
                                            : answer;
}

std::string WithHeader(const std::string& request, const std::string& header) {
  return StrCat(request.substr(0, request.size() - 2), header, "\r\n");
}

bool IsRepeated(const std::string& answer) {
  return answer.find("\r\nCache-Status: pages; ") != answer.npos;
}

// Pages in every format and coding, asked for by clients of every kind.
class AnyRequest {
 public:
  explicit AnyRequest(uint64_t seed) : random_(seed) {}

  std::string Make() {
    std::string bytes = StrCat(One({"GET", "GET", "GET", "HEAD"}), " ", Target(), " HTTP/1.1\r\n");
    std::vector<std::string> headers = {Header("Host", {"search.test", "other.test:81"})};
    Maybe(2, Header("Accept", {"*/*", "text/html", "application/json", "application/atom+xml"}),
          &headers);
    Maybe(2, Header("Accept-Encoding", {"gzip", "zstd, gzip", "identity", "br", "gzip;q=0", "*"}),
          &headers);
    Maybe(3, Header("User-Agent", {"Mozilla/5.0 (X11; Linux x86_64)", "curl/7.88.1"}), &headers);
    Maybe(4, Header("Cookie", {"a=b; c=d", ""}), &headers);
    Maybe(4, Header("Connection", {"keep-alive"}), &headers);
    Maybe(4, Header("traceparent", {kTrace, "00-malformed"}), &headers);
    Maybe(4, Header("X-Api-Key", {"gold-key-of-a-test", ""}), &headers);
    Maybe(4, Header("Neptune-Service-Class", {"rest", "none"}), &headers);
    Maybe(6, Header("X-Forwarded-For", {"10.0.0.1, 10.0.0.2"}), &headers);
    Maybe(6, Header("If-None-Match", {"\"tag\"", "*"}), &headers);
    Maybe(6, Header("Cache-Control", {"max-age=0"}), &headers);
    Maybe(8, Header("Range", {"bytes=0-9"}), &headers);
    std::shuffle(headers.begin(), headers.end(), random_);
    for (const std::string& header : headers) bytes += header;
    return StrCat(bytes, "\r\n");
  }
  size_t Number(size_t below) { return random_() % below; }

 private:
  std::string One(const std::vector<std::string>& of) { return of[random_() % of.size()]; }
  std::string Target() {
    return One({"/search?q=common", "/search?q=common&format=json", "/search?q=rare&format=rss",
                "/search?q=rare&format=atom", "/search?q=common&format=json&pretty=1",
                "/search?q=%63ommon&count=5", "/%73earch?q=common", "/search?q=nowhere"});
  }
  // Some clients write names in lower case, and put more blanks before a value.
  std::string Header(std::string name, const std::vector<std::string>& values) {
    if (random_() % 3 == 0) {
      for (char& c : name) c = static_cast<char>(std::tolower(c));
    }
    return StrCat(name, random_() % 5 == 0 ? ":" : ": ", One(values), "\r\n");
  }
  void Maybe(size_t one_in, const std::string& header, std::vector<std::string>* headers) {
    if (random_() % one_in == 0) headers->push_back(header);
  }

  std::mt19937_64 random_;
};

TEST(FrontendShortWayTest, BothWaysSendTheSameBytes) {
  constexpr uint64_t kSeed = 26;
  SimulatedSearch search(kSeed, Parameter("trace_share", "0"), kClasses);
  AnyRequest requests(kSeed);
  int compared = 0;
  double short_count = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string request = requests.Make();
    for (int round = 0; round < 10; ++round) {  // until the page is kept, and the request is known
      const auto answer = search.BeginRaw({request});
      search.RunFor(milliseconds(20));
      if (IsRepeated(*answer)) break;
    }
    const double before = ShortAnswers(search);
    const auto by_short_way = search.BeginRaw({request});
    const auto by_ordinary = search.BeginRaw({WithHeader(request, kUnusual)});
    search.RunFor(milliseconds(20));
    if (!IsRepeated(*by_ordinary)) continue;
    ASSERT_EQ(Comparable(*by_short_way), Comparable(*by_ordinary))
        << "seed " << kSeed << ", request " << i << ":\n"
        << request;
    short_count += ShortAnswers(search) - before;
    EXPECT_LE(ShortAnswers(search), before + 1) << request;
    ++compared;
  }
  EXPECT_GT(compared, 300);
  EXPECT_GT(short_count, 0.8 * compared) << "others arrived in pieces";
}

TEST(FrontendShortWayTest, WhatIsUnusualTakesTheOrdinaryWay) {
  SimulatedSearch search(2);
  const std::string line = "GET /search?q=common&format=json HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 3; ++i) {
    search.BeginRaw({StrCat(line, "\r\n")});
    search.RunFor(milliseconds(100));
  }
  const std::vector<std::vector<std::string>> unusual = {
      {StrCat(line, "Connection: close\r\n\r\n")},
      {StrCat(line, "Content-Length: 0\r\n\r\n")},
      {StrCat(line, "Cache-Control: no-cache\r\n\r\n")},
      {StrCat(line, "Accept-Encoding: gzip\r\nAccept-Encoding: zstd\r\n\r\n")},
      {StrCat(line, "X-Other: \xc3\xa4\r\n\r\n")},
      {StrCat(line, "X-Api-Key: unknown\r\n\r\n")},
      {line, "\r\n"},
      {"GET /search?q=common&format=json HTTP/1.0\r\n\r\n"},
      {"OPTIONS /search?q=common&format=json HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"GET /search?q=common&format=json HTTP/1.1\r\n\r\n"},
  };
  const double before = ShortAnswers(search);
  for (const auto& pieces : unusual) {
    const auto answer = search.BeginRaw(pieces);
    search.RunFor(milliseconds(100));
    EXPECT_TRUE(answer->starts_with("HTTP/1.1 ")) << pieces[0];
    EXPECT_EQ(ShortAnswers(search), before) << pieces[0];
  }
  for (int i = 0; i < 5; ++i) {  // one may arrive in pieces
    search.BeginRaw({StrCat(line, "\r\n")});
    search.RunFor(milliseconds(100));
  }
  EXPECT_GT(ShortAnswers(search), before);
}

// What a cluster counts and logs for requests by either way.
class Counted {
 public:
  explicit Counted(bool by_short_way) : by_short_way_(by_short_way) {}
  ~Counted() { unlink(log_.c_str()); }

  void Ask(const std::vector<std::string>& headers) {
    for (const std::string& header : headers) {
      search_->BeginRaw({StrCat("GET /search?q=common&format=", format_, " HTTP/1.1\r\nHost: h\r\n",
                                header, by_short_way_ ? "" : kUnusual, "\r\n")});
      search_->RunFor(milliseconds(50));
    }
  }
  void set_format(const std::string& format) { format_ = format; }
  SimulatedSearch& search() { return *search_; }

  // Everything but times and identities.
  std::string Summary() {
    std::string text;
    for (const char* outcome : {"hit", "stale", "miss", "skipped"}) {
      StrAppend(&text, outcome, " ",
                search_->Metric("search_page_cache_lookups_total", {{"outcome", outcome}}), "\n");
    }
    for (const char* format : {"json", "html"}) {
      StrAppend(&text, format, " ",
                search_->Metric("search_http_requests_total",
                                {{"format", format}, {"outcome", "complete"}}),
                " ", search_->Metric("search_http_seconds", {{"format", format}}), "\n");
    }
    StrAppend(&text, "2xx ",
              search_->Metric("neptune_http_responses_total",
                              {{"server", "frontend"}, {"status", "2xx"}}),
              "\n");
    for (const char* name : {"gold", "rest"}) {
      StrAppend(&text, name, " ",
                search_->Metric("neptune_class_requests_total",
                                {{"service", "search"}, {"class", name}, {"outcome", "ok"}}),
                "\n");
    }
    search_->RunFor(seconds(3));  // for the log
    std::ifstream log(log_);
    for (std::string line; std::getline(log, line);) {
      const json entry = json::parse(line);
      StrAppend(&text, entry.value("class", "none"), " ", entry.value("cache", ""), " ",
                entry.value("query", ""), " ", entry.value("results", -1), " ",
                entry.value("status", 0), "\n");
    }
    return text;
  }

 private:
  const bool by_short_way_;
  const std::string log_ =
      StrCat(testing::TempDir(), "/short_way_", getpid(), "_", by_short_way_, ".log");
  std::string format_ = "json";
  std::optional<SimulatedSearch> search_{std::in_place, 3, Parameter("access_log", log_), kClasses};
};

TEST(FrontendShortWayTest, BothWaysCountAndLogTheSame) {
  std::vector<std::string> summaries;
  for (const bool by_short_way : {false, true}) {
    Counted counted(by_short_way);
    for (const char* format : {"json", "html"}) {
      counted.set_format(format);
      for (int i = 0; i < 5; ++i) {
        counted.Ask({"", "X-Api-Key: gold-key-of-a-test\r\n", "X-Api-Key: unknown\r\n",
                     "Cache-Control: no-cache\r\n", "Neptune-Service-Class: rest\r\n"});
      }
    }
    EXPECT_EQ(ShortAnswers(counted.search()) > 10, by_short_way);
    summaries.push_back(counted.Summary());
  }
  EXPECT_EQ(summaries[0], summaries[1]);
  EXPECT_GT(summaries[0].size(), 1000u) << "there are lines of the log";
}

std::vector<int> StatusesOf(const std::string& answers) {
  static const std::regex kLine("HTTP/1.1 ([0-9]+) ");
  std::vector<int> statuses;
  for (std::sregex_iterator at(answers.begin(), answers.end(), kLine), end; at != end; ++at) {
    statuses.push_back(std::stoi((*at)[1]));
  }
  return statuses;
}

TEST(FrontendShortWayTest, TheRateOfAClientIsLimitedAlike) {
  const std::string parameters =
      StrCat(Parameter("http_rate_per_second", "2"), Parameter("http_rate_burst", "6"),
             Parameter("trust_forwarded_for", "true"));
  std::vector<std::vector<int>> statuses;
  for (const char* more : {"", kUnusual}) {
    SimulatedSearch search(4, parameters, kClasses);
    const auto ask = [&](const std::string& header, int count) {
      const std::string request =
          StrCat("HEAD /search?q=common&format=json HTTP/1.1\r\nHost: h\r\n", header, more, "\r\n");
      std::vector<std::string> pieces(static_cast<size_t>(count), request);
      const auto answers = search.BeginRaw(pieces);
      search.RunFor(milliseconds(200));
      return StatusesOf(*answers);
    };
    for (int i = 0; i < 3; ++i) {
      ask("", 1);
      search.RunFor(seconds(5));
    }
    for (const char* header :
         {"", "X-Api-Key: gold-key-of-a-test\r\n", "X-Api-Key:\r\n",
          "X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\n", "X-Forwarded-For: 10.0.0.3, 10.0.0.2\r\n"}) {
      ask(header, 1);  // seen from now on
      search.RunFor(seconds(1));
      statuses.push_back(ask(header, 10));
    }
    EXPECT_EQ(ShortAnswers(search) > 0, *more == '\0');
    EXPECT_GT(search.Metric("search_rate_limited_total", {}), 9);
  }
  ASSERT_EQ(statuses.size(), 10u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(statuses[i], statuses[i + 5]) << i;
  EXPECT_EQ(std::count(statuses[0].begin(), statuses[0].end(), 200), 6);
}

TEST(FrontendShortWayTest, PipelinedRequestsAreAnsweredInOrder) {
  SimulatedSearch search(5);
  std::string all;
  std::vector<std::string> queries = {"common", "rare", "common", "new", "rare", "common"};
  for (int round = 0; round < 4; ++round) {
    all.clear();
    for (const std::string& query : queries) {
      StrAppend(&all, "GET /search?q=", query, "&format=json HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    const auto answers = search.BeginRaw({all});
    search.RunFor(milliseconds(300));
    std::vector<std::string> seen;
    static const std::regex kQuery("\"query\":\"([a-z]+)\"");
    for (std::sregex_iterator at(answers->begin(), answers->end(), kQuery), end; at != end; ++at) {
      seen.push_back((*at)[1]);
    }
    EXPECT_EQ(seen, queries) << round;
  }
  EXPECT_GT(ShortAnswers(search), 1);
}

TEST(FrontendShortWayTest, WithoutAPageCacheEveryRequestTakesTheOrdinaryWay) {
  SimulatedSearch search(6, Parameter("page_cache_mb", "0"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(search.Get("/search?q=common&format=json").http.status, 200);
    search.RunFor(milliseconds(50));
  }
  EXPECT_EQ(ShortAnswers(search), 0);
}

TEST(FrontendShortWayTest, APageThatIsReplacedIsNotSentAgain) {
  SimulatedSearch search(7);
  const std::string request = "GET /search?q=common&format=json HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 10; ++i) {
    search.BeginRaw({StrCat(request, "\r\n")});
    search.RunFor(milliseconds(50));
  }
  const double before = ShortAnswers(search);
  EXPECT_GT(before, 3);
  search.BeginRaw({StrCat(request, "Cache-Control: no-cache\r\n\r\n")});
  search.RunFor(milliseconds(100));
  const auto looked_up = search.BeginRaw({StrCat(request, "\r\n")});
  search.RunFor(milliseconds(100));
  EXPECT_NE(looked_up->find("\r\nCache-Status: answers; hit\r\n"), std::string::npos);
  for (int i = 0; i < 5; ++i) {
    const auto repeated = search.BeginRaw({StrCat(request, "\r\n")});
    search.RunFor(milliseconds(100));
    EXPECT_TRUE(IsRepeated(*repeated));
  }
  EXPECT_GT(ShortAnswers(search), before) << "the request is known still";
}

}  // namespace
}  // namespace search::frontend
