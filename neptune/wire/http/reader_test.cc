// Requests and responses read whole, in pieces, pipelined, broken and too large.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/request_reader.h"
#include "neptune/wire/http/response_reader.h"

namespace neptune {
namespace {

constexpr std::string_view kGet = "GET /search?q=a+b%21 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
constexpr std::string_view kChunked =
    "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n";

// The status of the error that `bytes` cause; 0 if they are a request, -1 if more are needed.
int StatusOf(std::string_view bytes, const HttpReaderOptions& options = {}) {
  HttpRequestReader reader(options);
  reader.Feed(bytes);
  if (reader.Next()) return 0;
  return reader.error() ? reader.error()->status : -1;
}

std::string WithHeaders(std::string_view headers) {
  return StrCat("GET / HTTP/1.1\r\nHost: x\r\n", headers, "\r\n");
}

TEST(HttpRequestReaderTest, ReadsARequest) {
  HttpRequestReader reader;
  reader.Feed(kGet);
  const auto request = reader.Next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->target, "/search?q=a+b%21");
  EXPECT_EQ(request->path, "/search");
  EXPECT_EQ(request->query, "q=a+b%21");
  EXPECT_EQ(request->Parameter("q"), "a b!");
  EXPECT_EQ(request->Parameter("none"), std::nullopt);
  EXPECT_EQ(request->headers.Get("accept"), "*/*");
  EXPECT_EQ(request->version, 11);
  EXPECT_TRUE(request->keep_alive);
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.phase(), HttpRequestReader::Phase::kBetweenRequests);
}

TEST(HttpRequestReaderTest, PiecesOfAnySizeGiveTheSameRequests) {
  const std::string bytes = StrCat(kGet, kChunked, "\r\n", kGet);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    HttpRequestReader reader;
    std::string seen;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      reader.Feed(std::string_view(bytes).substr(i, piece));
      while (const auto request = reader.Next()) {
        StrAppend(&seen, request->method, " ", request->target, " ", request->body, ";");
      }
      ASSERT_FALSE(reader.error()) << reader.error()->reason;
    }
    EXPECT_EQ(seen, "GET /search?q=a+b%21 ;POST /d abcdefg;GET /search?q=a+b%21 ;") << piece;
  }
}

TEST(HttpRequestReaderTest, TrailersAreNotHeaders) {
  HttpRequestReader reader;
  reader.Feed(kChunked);
  EXPECT_FALSE(reader.Next()->headers.Has("Trailer"));
}

TEST(HttpRequestReaderTest, AQuoteInATrailerIsAByteLikeOthers) {
  const std::string request =
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;a=\"b\"\r\nab\r\n0;c=\"d\\\"\"\r\nT: \"u\r\nV: w\r\n\r\n";
  HttpRequestReader reader;
  for (const char byte : request) reader.Feed(std::string_view(&byte, 1));
  HttpRequestReader slow;
  std::optional<HttpRequest> read;
  for (const char byte : request) {
    slow.Feed(std::string_view(&byte, 1));
    ASSERT_FALSE(read.has_value());
    read = slow.Next();
    ASSERT_FALSE(slow.error().has_value()) << slow.error()->reason;
  }
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->body, "ab");
  EXPECT_TRUE(reader.Next().has_value());
}

TEST(HttpRequestReaderTest, ALineEndWithinQuotesEndsAChunksLine) {
  HttpRequestReader reader;
  reader.Feed(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2;a=\"b\r\nab\r\n0\r\n\r\n");
  EXPECT_FALSE(reader.Next().has_value());
  ASSERT_TRUE(reader.error().has_value());
  EXPECT_EQ(reader.error()->reason, "bad chunk extension");
}

TEST(HttpRequestReaderTest, KeepAliveFollowsVersionAndHeader) {
  const auto keeps = [](std::string_view bytes) {
    HttpRequestReader reader;
    reader.Feed(bytes);
    return reader.Next()->keep_alive;
  };
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_FALSE(keeps(WithHeaders("Connection: close\r\n")));
}

TEST(HttpRequestReaderTest, AbsoluteTargetsLoseTheirAuthority) {
  HttpRequestReader reader;
  reader.Feed(
      "GET http://h:1/a/b?c HTTP/1.1\r\nHost: h\r\n\r\nGET http://h HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(reader.Next()->target, "/a/b?c");
  EXPECT_EQ(reader.Next()->target, "/");
  reader.Feed("GET http://y:1/ HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto request = reader.Next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->headers.Get("Host"), "y:1");
  EXPECT_EQ(request->headers.Count("Host"), 1u);
}

TEST(HttpRequestReaderTest, PhasesTellWhereTheBytesEnd) {
  using Phase = HttpRequestReader::Phase;
  HttpRequestReader reader;
  reader.Feed("POST / HTTP/1.1\r\nHost: x\r\n");
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.phase(), Phase::kInHeader);
  reader.Feed("Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.phase(), Phase::kInBody);
  EXPECT_TRUE(reader.ConsumeExpectsContinue());
  EXPECT_FALSE(reader.ConsumeExpectsContinue());
  reader.Feed("ab");
  EXPECT_EQ(reader.Next()->body, "ab");
  EXPECT_EQ(reader.phase(), Phase::kBetweenRequests);
}

TEST(HttpRequestReaderTest, MalformedRequestsAre400) {
  for (const char* bytes : {
           "\x16\x03\x01\x02\x01\x01\r\n\r\n",
           "GET\r\n\r\n",
           "G@T / HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET /?q=%4 HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x y\r\n\r\n",
           "GET /#x HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       }) {
    EXPECT_EQ(StatusOf(bytes), 400) << bytes;
  }
}

TEST(HttpRequestReaderTest, AmbiguousFramingIsRefused) {
  const auto post = [](std::string_view headers) {
    return StatusOf(StrCat("POST / HTTP/1.1\r\nHost: x\r\n", headers, "\r\n0\r\n\r\n"));
  };
  EXPECT_EQ(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: gzip\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: chunked, gzip\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: xchunked\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 5\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
}

TEST(HttpRequestReaderTest, LimitsHaveTheirStatus) {
  const HttpReaderOptions limits{.header_size_max = 1000,
                                 .target_size_max = 100,
                                 .body_size_max = 10,
                                 .header_count_max = 3,
                                 .parameter_count_max = 2};
  const auto status = [&](std::string_view bytes) { return StatusOf(bytes, limits); };
  EXPECT_EQ(status(StrCat("GET /", std::string(100, 'a'), " HTTP/1.1\r\nHost: x\r\n\r\n")), 414);
  EXPECT_EQ(status(StrCat("GET /", std::string(99, 'a'), " HTTP/1.1\r\nHost: x\r\n\r\n")), 0);
  EXPECT_EQ(status(StrCat("GET /", std::string(5000, 'a'))), 414);
  EXPECT_EQ(status(WithHeaders(StrCat("A: ", std::string(2000, 'a')))), 431);
  EXPECT_EQ(status(WithHeaders("A: 1\r\nB: 1\r\nC: 1\r\n")), 431);
  EXPECT_EQ(status(WithHeaders("A: 1\r\nB: 1\r\n")), 0);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"), 413);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"), 0);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "6\r\n012345\r\n6\r\n012345\r\n0\r\n\r\n"),
            413);
  EXPECT_EQ(status(StrCat("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;",
                          std::string(2000, 'e'))),
            431);
  EXPECT_EQ(status("GET /?a&b&c HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
}

// A malformed line is refused when it is there; the rest of the header is not awaited.
TEST(HttpRequestReaderTest, MalformedLinesAreRefusedAtOnce) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x\r\n folded"), -1);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n"), 400);
  EXPECT_EQ(StatusOf("GET /\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/3.0\r\n"), 505);
  EXPECT_EQ(StatusOf("\x16\x03"), 400);
}

// A long header that comes in a piece of its own is not taken for the request line.
TEST(HttpRequestReaderTest, TheLimitOfTheTargetIsThatOfTheFirstLine) {
  HttpRequestReader reader({.header_size_max = 1000, .target_size_max = 100});
  reader.Feed("GET / HTTP/1.1\r\n");
  EXPECT_FALSE(reader.Next());
  reader.Feed(StrCat("A: ", std::string(500, 'a'), "\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(reader.Next()) << reader.error()->reason;
}

TEST(HttpRequestReaderTest, UnknownExpectationsAndConnectAreRefused) {
  EXPECT_EQ(StatusOf(WithHeaders("Expect: more\r\n")), 417);
  EXPECT_EQ(StatusOf(WithHeaders("Expect: 100-continue\r\n")), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nExpect: more\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
}

TEST(HttpRequestReaderTest, ErrorsKnowWhetherTheRequestIsHead) {
  for (const char* bytes : {"HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/9.0\r\n"}) {
    HttpRequestReader reader;
    reader.Feed(bytes);
    EXPECT_FALSE(reader.Next());
    EXPECT_TRUE(reader.error().value().is_head) << bytes;
  }
}

class TestGate final : public HttpBodyGate {
 public:
  HttpBodyPermit Admit(HttpRequest* head) override {
    admitted += StrCat(head->method, " ", head->path, ";");
    return permit;
  }
  bool Hold(size_t size) override {
    held_max = std::max(held_max, size);
    return size <= hold_max;
  }

  HttpBodyPermit permit;
  size_t hold_max = SIZE_MAX;
  std::string admitted;
  size_t held_max = 0;
};

TEST(HttpRequestReaderTest, TheGateIsAskedOnceForEachBody) {
  TestGate gate;
  HttpRequestReader reader({}, &gate);
  const std::string bytes =
      StrCat(kGet, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", kChunked);
  int count = 0;
  for (const char byte : bytes) {
    reader.Feed(std::string_view(&byte, 1));
    while (reader.Next()) ++count;
  }
  EXPECT_EQ(count, 3);
  EXPECT_EQ(gate.admitted, "POST /a;POST /d;");
  EXPECT_GE(gate.held_max, 7u);
}

TEST(HttpRequestReaderTest, TheGateRefusesAtTheHeaderAndByTheSizeOfTheBody) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
  const auto error = [&](TestGate gate) {
    HttpRequestReader reader({}, &gate);
    reader.Feed(head);
    EXPECT_FALSE(reader.Next());
    if (!reader.error()) {
      EXPECT_EQ(reader.body_size(), 0u);
      reader.Feed(std::string(60, 'x'));
      EXPECT_FALSE(reader.Next());
    }
    EXPECT_TRUE(reader.error());
    EXPECT_EQ(reader.body_size(), 0u);
    return reader.error().value_or(HttpReadError());
  };
  TestGate small;
  small.permit.size_max = 99;
  EXPECT_EQ(error(small).reason, "the body is larger than 99 bytes");
  TestGate refusing;
  refusing.permit.refusal = HttpResponse::Text(401, "no");
  EXPECT_EQ(error(refusing).status, 401);
  EXPECT_EQ(error(refusing).response.value().body, "no");
  TestGate full;
  full.hold_max = 50;
  EXPECT_EQ(error(full).status, 503);
}

TEST(HttpRequestReaderTest, OtherVersionsAre505) {
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(HttpRequestReaderTest, NothingIsReadAfterAnError) {
  HttpRequestReader reader;
  reader.Feed("BAD\r\n\r\n");
  EXPECT_FALSE(reader.Next());
  reader.Feed(kGet);
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.buffered_size(), 0u);
}

TEST(HttpResponseReaderTest, ReadsWhatTheWriterWrites) {
  const std::string bytes =
      StrCat("HTTP/1.1 100 Continue\r\n\r\n",
             SerializeHttpResponse(HttpResponse::Text(200, "one"), {}, {}),
             SerializeHttpResponse(HttpResponse::Text(200, "two"), {.head = true}, {}),
             SerializeHttpResponse({.status = 204, .headers = {}, .body = {}}, {}, {}),
             SerializeHttpResponse(HttpResponse::Text(404, "four"), {}, {}));
  for (size_t piece = 1; piece < 100; ++piece) {
    HttpResponseReader reader;
    for (const char* method : {"GET", "HEAD", "GET", "GET"}) reader.Expect(method);
    std::string seen;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      reader.Feed(std::string_view(bytes).substr(i, piece));
      for (auto next = reader.Next(); next.ok() && next->has_value(); next = reader.Next()) {
        StrAppend(&seen, (*next)->status, (*next)->body, ";");
      }
    }
    EXPECT_EQ(seen, "200one;200;204;404four;") << piece;
  }
}

TEST(HttpResponseReaderTest, TheEndOfTheStreamEndsABodyWithoutLength) {
  HttpResponseReader reader;
  reader.Feed("HTTP/1.0 200 OK\r\n\r\nabc");
  EXPECT_FALSE(reader.Next()->has_value());
  reader.FeedEnd();
  EXPECT_EQ((*reader.Next())->body, "abc");
}

TEST(HttpResponseReaderTest, ReadsALengthGivenByteByByte) {
  HttpResponseReader reader;
  const std::string bytes = "HTTP/1.1 200 OK\r\ncontent-length:  5 \r\n\r\nhello";
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.Feed(bytes.substr(i, 1));
    EXPECT_FALSE(reader.Next()->has_value());
  }
  reader.Feed("o");
  const auto response = *reader.Next();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(HttpResponseReaderTest, ReadsChunksAndPassesOverInterimResponses) {
  HttpResponseReader reader;
  reader.Feed(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
      "Connection: close\r\n\r\n5\r\nhello\r\n3;x\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ((*reader.Next())->body, "helloabc");
  EXPECT_FALSE(reader.keep_alive());
}

TEST(HttpResponseReaderTest, ABodyThatEndsWithItsConnectionDoesNotKeepIt) {
  HttpResponseReader reader;
  reader.Feed("HTTP/1.1 200 OK\r\n\r\nabc");
  EXPECT_FALSE(reader.Next()->has_value());
  reader.FeedEnd();
  EXPECT_EQ((*reader.Next())->body, "abc");
  EXPECT_FALSE(reader.keep_alive());
}

TEST(HttpResponseReaderTest, MalformedResponsesAreRefused) {
  for (const char* bytes :
       {"HTTP/2 200 OK\r\n\r\n", "rubbish\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    HttpResponseReader reader;
    reader.Feed(bytes);
    EXPECT_EQ(reader.Next().status().code(), StatusCode::kInvalidArgument) << bytes;
  }
}

TEST(HttpResponseReaderTest, BrokenAndCutResponsesAreErrors) {
  HttpResponseReader broken;
  broken.Feed("nonsense\r\n\r\n");
  EXPECT_EQ(broken.Next().status().code(), StatusCode::kInvalidArgument);
  HttpResponseReader cut;
  cut.Feed("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_FALSE(cut.Next()->has_value());
  cut.FeedEnd();
  EXPECT_EQ(cut.Next().status().code(), StatusCode::kUnavailable);
}

TEST(MessageWriterTest, RequestsAreReadBack) {
  HttpRequestReader reader;
  reader.Feed(SerializeHttpRequest("POST", "/a?b=c", "host:1", {{"X-Y", "z"}}, "body"));
  const auto request = reader.Next();
  ASSERT_TRUE(request) << reader.error()->reason;
  EXPECT_EQ(request->Parameter("b"), "c");
  EXPECT_EQ(request->headers.Get("x-y"), "z");
  EXPECT_EQ(request->body, "body");
}

}  // namespace
}  // namespace neptune
