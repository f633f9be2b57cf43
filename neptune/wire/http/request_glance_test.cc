#include "neptune/wire/http/request_glance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/http/request_reader.h"

namespace neptune {
namespace {

constexpr std::string_view kUsual =
    "GET /search?q=a+b HTTP/1.1\r\nHost: x.example\r\nAccept: */*\r\nX-Empty:\r\n\r\n";

std::string Text(const HttpRequest& request) {
  std::string text = request.target;
  for (const auto& [name, value] : request.headers) StrAppend(&text, "\n", name, ":", value);
  return text;
}

std::string Text(const HttpGlance& glance) {
  std::string text(glance.target);
  for (size_t i = 0; i < glance.header_count; ++i) {
    StrAppend(&text, "\n", glance.headers[i].first, ":", glance.headers[i].second);
  }
  return text;
}

size_t SizeOf(std::string_view bytes, const HttpReaderOptions& limits = {}) {
  HttpGlance glance;
  return GlanceAt(bytes, limits, &glance);
}

std::string With(std::string_view header) {
  return StrCat("GET / HTTP/1.1\r\nHost: x\r\n", header, "\r\n\r\n");
}

TEST(RequestGlanceTest, SeesAUsualRequest) {
  const std::string bytes = StrCat(kUsual, "GET /next");
  HttpGlance glance;
  ASSERT_EQ(GlanceAt(bytes, {}, &glance), kUsual.size());
  EXPECT_FALSE(glance.is_head);
  EXPECT_EQ(glance.target, "/search?q=a+b");
  ASSERT_EQ(glance.header_count, 3u);
  EXPECT_EQ(glance.headers[0], HttpHeaders::Header("Host", "x.example"));
  EXPECT_EQ(glance.headers[1], HttpHeaders::Header("Accept", "*/*"));
  EXPECT_EQ(glance.headers[2], HttpHeaders::Header("X-Empty", ""));
  ASSERT_GT(GlanceAt("HEAD / HTTP/1.1\r\nhost:  x  \r\n\r\n", {}, &glance), 0u);
  EXPECT_TRUE(glance.is_head);
  EXPECT_EQ(glance.headers[0], HttpHeaders::Header("host", "x"));
}

TEST(RequestGlanceTest, LeavesWhatIsIncomplete) {
  for (size_t size = 0; size < kUsual.size(); ++size) {
    EXPECT_EQ(SizeOf(kUsual.substr(0, size)), 0u) << size;
  }
}

TEST(RequestGlanceTest, LeavesWhatIsUnusual) {
  EXPECT_GT(SizeOf(With("X: y")), 0u);
  EXPECT_GT(SizeOf(With("Connection: Keep-Alive")), 0u);
  const std::vector<std::string> unusual = {
      StrCat("\r\n", kUsual),
      "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
      "get / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /\x7f HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n",
      With("Host: y"),
      "GET / HTTP/1.1\r\nHost: x y\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
      With("Connection: close"),
      With("Connection: keep-alive, upgrade"),
      With("Proxy-Connection: close"),
      With("content-length: 0"),
      With("Transfer-Encoding: chunked"),
      With("Expect: 100-continue"),
      With("Upgrade: h2c"),
      With("TE: trailers"),
      With("Trailer: x"),
      With(" folded: y"),
      With("X : y"),
      With(": y"),
      With("X"),
      With("X: \xff"),
      With("X: a\tb"),
      With(std::string_view("X: a\0b", 6)),
      With("X: a\rb"),
  };
  for (const std::string& bytes : unusual) EXPECT_EQ(SizeOf(bytes), 0u) << bytes;
}

TEST(RequestGlanceTest, LeavesWhatIsLong) {
  EXPECT_EQ(SizeOf(kUsual, {.header_size_max = kUsual.size() - 1}), 0u);
  EXPECT_EQ(SizeOf(kUsual, {.header_size_max = kUsual.size()}), kUsual.size());
  EXPECT_EQ(SizeOf(kUsual, {.target_size_max = 12}), 0u);
  EXPECT_EQ(SizeOf(kUsual, {.target_size_max = 13}), kUsual.size());
  EXPECT_EQ(SizeOf(kUsual, {.header_count_max = 2}), 0u);
  EXPECT_EQ(SizeOf(kUsual, {.header_count_max = 3}), kUsual.size());
  EXPECT_EQ(SizeOf(With(StrCat("X: ", std::string(kGlanceSizeMax, 'y')))), 0u);
  std::string many;
  for (size_t i = 1; i < HttpGlance::kHeaderCountMax; ++i) StrAppend(&many, "X: y\r\n");
  EXPECT_GT(SizeOf(StrCat("GET / HTTP/1.1\r\nHost: x\r\n", many, "\r\n")), 0u);
  EXPECT_EQ(SizeOf(StrCat("GET / HTTP/1.1\r\nHost: x\r\n", many, "X: y\r\n\r\n")), 0u);
}

// A byte at each place of a request, of each value.
TEST(RequestGlanceTest, NoByteMakesItSeeAnotherRequestThanTheReader) {
  int seen = 0;
  for (size_t at = 0; at < kUsual.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes(kUsual);
      bytes[at] = static_cast<char>(value);
      HttpGlance glance;
      const size_t size = GlanceAt(bytes, {}, &glance);
      if (size == 0) continue;
      HttpRequestReader reader;
      reader.Feed(std::string_view(bytes).substr(0, size));
      const auto request = reader.Next();
      if (!request) {
        EXPECT_NE(glance.target.find('%'), glance.target.npos) << bytes;
        continue;
      }
      ++seen;
      EXPECT_EQ(Text(*request), Text(glance));
      EXPECT_TRUE(request->keep_alive) << bytes;
    }
  }
  EXPECT_GT(seen, 2000);
}

}  // namespace
}  // namespace neptune
