// Values, decoding, problem documents, routes and bytes of responses.

#include "neptune/wire/http/http_message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "neptune/wire/http/http_router.h"
#include "neptune/wire/http/json_text.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/http/url_decoding.h"

namespace neptune {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
constexpr WallTime kTime{784111777'000'000'000};

TEST(HttpHeadersTest, NamesCompareWithoutCase) {
  HttpHeaders headers = {{"Content-Type", "a"}, {"X", "1"}, {"x", "2"}};
  EXPECT_EQ(headers.Get("content-type"), "a");
  EXPECT_EQ(headers.Count("X"), 2u);
  headers.Set("x", "3");
  EXPECT_EQ(headers.Get("X"), "3");
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_FALSE(headers.Has("Y"));
}

TEST(HttpHeadersTest, KeepTheirOrderAndRepeatedNames) {
  HttpHeaders headers = {{"A", "1"}, {"", "nameless"}, {"B", ""}, {"a", "2"}};
  std::vector<std::pair<std::string, std::string>> seen;
  for (const auto& [name, value] : headers) seen.emplace_back(name, value);
  EXPECT_EQ(seen, (Parameters{{"A", "1"}, {"", "nameless"}, {"B", ""}, {"a", "2"}}));
  EXPECT_EQ(headers.Joined("A"), "1, 2");
  EXPECT_EQ(headers.Joined("C"), "");
  EXPECT_TRUE(headers.Has("B"));
  headers.Set("A", "3");
  EXPECT_EQ(headers.Joined("a"), "3");
  EXPECT_EQ(HttpHeaders(headers).Get("B"), "");
}

TEST(HttpHeadersTest, TakeViewsOfThemselves) {
  HttpHeaders headers;
  headers.Add("First", std::string(100, 'x'));
  for (int i = 0; i < 100; ++i)
    headers.Add(headers.Get("First").substr(0, 3), headers.Get("First"));
  EXPECT_EQ(headers.Count("xxx"), 100u);
  headers.Set("First", headers.Get("First").substr(0, 2));
  EXPECT_EQ(headers.Get("First"), "xx");
  EXPECT_EQ(headers.Joined("xxx").size(), 100u * 102 - 2);
}

TEST(UrlDecodingTest, DecodesBytesAndBlanks) {
  EXPECT_EQ(*PercentDecode("a%20b+c%C3%BC", PlusMeaning::kPlus), "a b+c\u00fc");
  EXPECT_EQ(*PercentDecode("a+b%2B", PlusMeaning::kBlank), "a b+");
}

TEST(UrlDecodingTest, RefusesBrokenEscapesAndZeroBytes) {
  for (const char* text : {"%", "%4", "%4x", "a%zz", "%00"}) {
    EXPECT_EQ(PercentDecode(text, PlusMeaning::kPlus).status().code(), StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(UrlDecodingTest, EncodingIsUndoneByDecoding) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(*PercentDecode(PercentEncode(all), PlusMeaning::kBlank), all);
}

TEST(UrlDecodingTest, TakesParametersApart) {
  EXPECT_EQ(*ParseQueryParameters("q=a+b&&start=1%30&flag&q==", 10),
            (Parameters{{"q", "a b"}, {"start", "10"}, {"flag", ""}, {"q", "="}}));
  EXPECT_TRUE(ParseQueryParameters("", 10)->empty());
  EXPECT_FALSE(ParseQueryParameters("a&b&c", 2).ok());
  EXPECT_FALSE(ParseQueryParameters("a=%f", 2).ok());
}

TEST(JsonTextTest, EscapesAndMendsText) {
  EXPECT_EQ(JsonText("a\"\\\n\x01</x>\u00fc\xff\xed\xa0\x80"),
            "\"a\\\"\\\\\\n\\u0001</x>\u00fc\ufffd\ufffd\ufffd\ufffd\"\n");
}

TEST(JsonTextTest, NumbersThatJsonLacksBecomeNull) {
  EXPECT_EQ(JsonText({std::nan(""), INFINITY, 1.5}), "[null,null,1.5]\n");
}

TEST(ProblemTest, NamesStatusTitleDetailAndExtra) {
  const HttpResponse response = ProblemResponse(400, "Bad query", "q is \"empty\"", {{"at", "q"}});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/problem+json; charset=utf-8");
  EXPECT_EQ(response.body,
            "{\"type\":\"about:blank\",\"title\":\"Bad query\",\"status\":400,"
            "\"detail\":\"q is \\\"empty\\\"\",\"at\":\"q\"}\n");
}

TEST(ProblemTest, MapsErrorsAndSaysWhenToTryAgain) {
  const HttpResponse full = ProblemResponse(ResourceExhausted("queue full"));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.headers.Get("Retry-After"), "1");
  EXPECT_NE(full.body.find("\"code\":\"RESOURCE_EXHAUSTED\""), std::string::npos);
  EXPECT_EQ(
      ProblemResponse(Unavailable("x"), std::chrono::milliseconds(2500)).headers.Get("Retry-After"),
      "3");
  EXPECT_EQ(HttpStatusOf(StatusCode::kDeadlineExceeded), 504);
  EXPECT_EQ(HttpStatusOf(StatusCode::kInvalidArgument), 400);
  EXPECT_EQ(HttpStatusOf(StatusCode::kNotFound), 404);
  EXPECT_EQ(HttpStatusOf(StatusCode::kInternal), 500);
}

TEST(MessageWriterTest, WritesGoldenBytes) {
  EXPECT_EQ(SerializeHttpResponse(HttpResponse::Text(200, "hello"), {}, kTime),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 5\r\n"
            "\r\n"
            "hello");
}

TEST(MessageWriterTest, HeadCountsTheBodyAndDoesNotSendIt) {
  const std::string bytes =
      SerializeHttpResponse(HttpResponse::Text(200, "hello"), {.head = true}, kTime);
  EXPECT_NE(bytes.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n"));
}

TEST(MessageWriterTest, ASharedBodyIsTheBody) {
  HttpResponse response = HttpResponse::Text(200, "");
  response.shared_body = std::make_shared<const std::string>("hello");
  EXPECT_EQ(SerializeHttpResponse(response, {}, kTime),
            SerializeHttpResponse(HttpResponse::Text(200, "hello"), {}, kTime));
  EXPECT_TRUE(SerializeHttpResponse(response, {.head = true}, kTime).ends_with("\r\n\r\n"));
}

TEST(MessageWriterTest, MovedResponsesHaveTheSameBytes) {
  for (const size_t size : {size_t{0}, kBodyMovedSize - 1, kBodyMovedSize, 3 * kBodyMovedSize}) {
    for (const bool head : {false, true}) {
      for (const bool is_shared : {false, true}) {
        HttpResponse response = HttpResponse::Text(200, std::string(size, 'x'));
        if (is_shared) {
          response.shared_body =
              std::make_shared<const std::string>(std::exchange(response.body, {}));
        }
        const std::string expected = SerializeHttpResponse(response, {.head = head}, kTime);
        const HttpResponseBytes bytes =
            MoveHttpResponse(response, {.head = head}, FormatHttpDate(kTime));
        EXPECT_EQ(bytes.first + bytes.rest, expected);
        EXPECT_EQ(bytes.rest.empty(), is_shared || head || size < kBodyMovedSize);
      }
    }
  }
}

TEST(MessageWriterTest, DatesAreThoseOfTheCalendar) {
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(FormatHttpDate({0}), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate({kSecond - 1}), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate({951'782'399 * kSecond}), "Mon, 28 Feb 2000 23:59:59 GMT");
  EXPECT_EQ(FormatHttpDate({951'782'400 * kSecond}), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate({1'767'225'599 * kSecond}), "Wed, 31 Dec 2025 23:59:59 GMT");
}

TEST(MessageWriterTest, NoContentHasNeitherBodyNorLength) {
  const std::string bytes =
      SerializeHttpResponse({.status = 204, .headers = {}, .body = "x"}, {}, kTime);
  EXPECT_EQ(bytes.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n"));
}

TEST(MessageWriterTest, ConnectionFollowsVersionAndEnd) {
  const auto bytes = [](const HttpAnswerContext& context) {
    return SerializeHttpResponse(HttpResponse::Text(200, ""), context, kTime);
  };
  EXPECT_EQ(bytes({}).find("Connection"), std::string::npos);
  EXPECT_NE(bytes({.keep_alive = false}).find("Connection: close\r\n"), std::string::npos);
  EXPECT_NE(bytes({.version = 10}).find("Connection: keep-alive\r\n"), std::string::npos);
}

TEST(MessageWriterTest, ValuesCannotBeginAnotherHeader) {
  HttpResponse response = HttpResponse::Text(200, "");
  response.headers.Add("Location", "/x\r\nSet-Cookie: a=b");
  response.headers.Add("Bad Name", "x");
  response.headers.Add("Content-Length", "77");
  response.headers.Add("Long", std::string(kHeaderLineSizeMax, 'x'));
  const std::string bytes = SerializeHttpResponse(response, {}, kTime);
  EXPECT_NE(bytes.find("Location: /x  Set-Cookie: a=b\r\n"), std::string::npos);
  EXPECT_EQ(bytes.find("Bad Name"), std::string::npos);
  EXPECT_EQ(bytes.find("77"), std::string::npos);
  EXPECT_EQ(bytes.find("Long"), std::string::npos);
}

TEST(MessageWriterTest, SecurityHeadersKeepWhatIsThere) {
  HttpResponse response;
  response.headers.Add("Referrer-Policy", "no-referrer");
  AddSecurityHeaders(&response);
  EXPECT_EQ(response.headers.Get("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(response.headers.Get("X-Content-Type-Options"), "nosniff");
  EXPECT_TRUE(response.headers.Has("Content-Security-Policy"));
}

class HttpRouterTest : public testing::Test {
 protected:
  HttpRouterTest() {
    const auto say = [](const char* text) {
      return [text](const HttpRequest&) { return HttpResponse::Text(200, text); };
    };
    router_.Add("GET", "/a", say("a"))
        .Add("POST", "/a", say("posted"))
        .AddPrefix("GET", "/a/", say("below a"))
        .AddPrefix("GET", "/a/b/", say("below b"))
        .Add("GET", "/a/b/exact", say("exact"));
  }
  HttpResponse Get(std::string path, std::string method = "GET") {
    HttpRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    return router_.Handle(request);
  }
  HttpRouter router_;
};

TEST_F(HttpRouterTest, ExactPathsWinThenLongestPrefix) {
  EXPECT_EQ(Get("/a").body, "a");
  EXPECT_EQ(Get("/a", "POST").body, "posted");
  EXPECT_EQ(Get("/a/x").body, "below a");
  EXPECT_EQ(Get("/a/b").body, "below a");
  EXPECT_EQ(Get("/a/b/x").body, "below b");
  EXPECT_EQ(Get("/a/b/exact").body, "exact");
  EXPECT_EQ(Get("/a/zz").body, "below a");
}

TEST_F(HttpRouterTest, NamesItsRoutes) {
  const std::vector<HttpRoute> expected = {{"GET", "/a", false},
                                           {"POST", "/a", false},
                                           {"GET", "/a/b/exact", false},
                                           {"GET", "/a/", true},
                                           {"GET", "/a/b/", true}};
  EXPECT_EQ(router_.routes(), expected);
}

TEST_F(HttpRouterTest, UnknownPathsAndMethodsAreProblems) {
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/b").status, 404);
  const HttpResponse refused = Get("/a", "DELETE");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.Get("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(Get("/a", "BREW").status, 501);
  EXPECT_EQ(Get("/b", "BREW").status, 501);
  EXPECT_EQ(Get("/b", "TRACE").status, 404);
}

TEST_F(HttpRouterTest, AnAsteriskAsksAboutAllPaths) {
  const HttpResponse options = Get("*", "OPTIONS");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.Get("Allow"), "GET, HEAD, POST, OPTIONS");
}

TEST_F(HttpRouterTest, ChecksComeBeforeHandlersAndOnce) {
  int check_count = 0;
  bool passes = false;
  router_.Add("POST", "/checked", [](const HttpRequest&) { return HttpResponse::Text(200, "in"); },
              {.body_size_max = 10, .check = [&](const HttpRequest&) {
                 ++check_count;
                 return passes ? std::nullopt : std::optional(HttpResponse::Text(401, "out"));
               }});
  EXPECT_EQ(Get("/checked", "POST").body, "out");
  HttpRequest request;
  request.method = "POST";
  request.path = "/checked";
  const HttpBodyPermit refused = router_.AtHeader(&request);
  EXPECT_EQ(refused.refusal.value().status, 401);
  EXPECT_FALSE(request.checked_at_header);
  passes = true;
  check_count = 0;
  const HttpBodyPermit permit = router_.AtHeader(&request);
  EXPECT_FALSE(permit.refusal);
  EXPECT_EQ(permit.size_max, 10u);
  EXPECT_EQ(router_.Handle(request).body, "in");
  EXPECT_EQ(check_count, 1);
  request.path = "/a";
  EXPECT_EQ(router_.AtHeader(&request).size_max, kRouteBodySizeMax);
  request.path = "/none";
  EXPECT_EQ(router_.AtHeader(&request).size_max, kRouteBodySizeMax);
}

TEST_F(HttpRouterTest, HeadIsGetAndOptionsSaysWhatIsAllowed) {
  EXPECT_EQ(Get("/a", "HEAD").status, 200);
  const HttpResponse options = Get("/a", "OPTIONS");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.Get("Allow"), "GET, HEAD, POST, OPTIONS");
}

}  // namespace
}  // namespace neptune
