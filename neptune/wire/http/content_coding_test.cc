#include "neptune/wire/http/content_coding.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "neptune/base/decoded_text.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

using enum ContentCoding;

std::string Decoded(ContentCoding coding, const std::string& body) {
  if (coding == kIdentity) return body;
  return coding == kGzip ? DecodedGzip(body) : DecodedZstd(body);
}

std::string Words(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) StrAppend(&text, "word", i * i % 997, " ");
  text.resize(size);
  return text;
}

// Bytes that do not become smaller.
std::string Noise(size_t size) {
  std::string bytes;
  for (uint64_t x = 88172645463325252; bytes.size() < size; bytes += static_cast<char>(x >> 32)) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  }
  return bytes;
}

HttpResponse Encoded(std::string_view accept_encoding, HttpResponse response) {
  HttpHeaders asked;
  if (!accept_encoding.empty()) asked.Add("accept-encoding", accept_encoding);
  EncodeContent(asked, {}, &response);
  return response;
}

TEST(ContentCodingTest, TheLargestWeightWins) {
  const struct {
    const char* header;
    std::optional<ContentCoding> expected;
  } cases[] = {
      {"", kIdentity},
      {"gzip", kGzip},
      {"gzip, deflate, br, zstd", kZstd},
      {"gzip, deflate, br", kGzip},
      {"GZip", kGzip},
      {"x-gzip", kGzip},
      {"deflate, br", kIdentity},
      {"zstd;q=0.5, gzip;q=0.8", kGzip},
      {"zstd ; q=0.8 ,\tgzip;Q=0.8", kZstd},
      {"gzip;q=0.001", kGzip},
      {"gzip;q=0", kIdentity},
      {"gzip;q=0.000, zstd;q=0.", kIdentity},
      {"identity, gzip;q=0.9", kIdentity},
      {"identity;q=0.5, gzip;q=1.000", kGzip},
      {"*", kGzip},
      {"*;q=0.5, gzip;q=0.2", kIdentity},
      {"gzip;q=0, *", kIdentity},
      {"identity;q=0", std::nullopt},
      {"*;q=0", std::nullopt},
      {"*;q=0, gzip", kGzip},
      {"identity;q=0, *", kGzip},
      {"gzip, gzip;q=0", kIdentity},
      // Malformed members are left out.
      {"gzip;q=2, zstd;q=1.001, ;q=1, ,,", kIdentity},
      {"gzip;q=0.1234", kIdentity},
      {"gzip;q=-1", kIdentity},
      {"gzip;level=1", kIdentity},
      {"gzip;", kIdentity},
      {"gzip;q=", kIdentity},
      {"gzip;q=x, zstd", kZstd},
  };
  for (const auto& [header, expected] : cases) {
    EXPECT_EQ(ChooseContentCoding(header), expected) << "'" << header << "'";
  }
}

TEST(ContentCodingTest, BodiesComeBack) {
  for (const size_t size : {1024u, 1025u, 5000u, 100'000u}) {
    const std::string body = Words(size);
    for (const ContentCoding coding : {kGzip, kZstd, kGzip}) {
      const auto encoded = EncodeBody(coding, body);
      ASSERT_TRUE(encoded.has_value()) << size;
      EXPECT_LT(encoded->size(), size);
      EXPECT_EQ(Decoded(coding, *encoded), body);
    }
  }
}

TEST(ContentCodingTest, LevelsMayAlternate) {
  const std::string body = Words(20'000);
  for (const int level : {1, 9, 1, 6}) {
    const auto encoded = EncodeBody(kGzip, body, {.gzip_level = level});
    ASSERT_TRUE(encoded.has_value());
    EXPECT_EQ(Decoded(kGzip, *encoded), body);
  }
}

TEST(ContentCodingTest, BodiesThatAreNotWorthItStayAsTheyAre) {
  const ContentCodingOptions options;
  for (const ContentCoding coding : {kGzip, kZstd}) {
    EXPECT_FALSE(EncodeBody(coding, ""));
    EXPECT_FALSE(EncodeBody(coding, Words(options.size_min - 1)));
    EXPECT_FALSE(EncodeBody(coding, Noise(5000)));
  }
  EXPECT_FALSE(EncodeBody(kIdentity, Words(5000)));
  EXPECT_TRUE(EncodeBody(kGzip, Words(options.gzip_size_max)));
  EXPECT_FALSE(EncodeBody(kGzip, Words(options.gzip_size_max + 1)));
  EXPECT_TRUE(EncodeBody(kZstd, Words(options.zstd_size_max)));
  EXPECT_FALSE(EncodeBody(kZstd, Words(options.zstd_size_max + 1)));
}

TEST(ContentCodingTest, AnyBodyCanBeWrapped) {
  for (const size_t size : {0u, 1u, 1000u, 70'000u, 3'000'000u}) {
    for (const ContentCoding coding : {kGzip, kZstd}) {
      const std::string body = Noise(size);
      EXPECT_EQ(Decoded(coding, WrapBody(coding, body)), body) << size;
    }
  }
}

TEST(ContentCodingTest, ResponsesSayTheirCoding) {
  const std::string body = Words(5000);
  const HttpResponse response = Encoded("gzip", HttpResponse::Json(200, body));
  EXPECT_EQ(response.headers.Get("Content-Encoding"), "gzip");
  EXPECT_EQ(response.headers.Get("Vary"), "Accept-Encoding");
  EXPECT_EQ(Decoded(kGzip, response.body), body);
  // A cache that keeps the plain answer must know that others get another one.
  const HttpResponse plain = Encoded("", HttpResponse::Json(200, body));
  EXPECT_FALSE(plain.headers.Has("Content-Encoding"));
  EXPECT_EQ(plain.headers.Get("Vary"), "Accept-Encoding");
  EXPECT_EQ(plain.body, body);
}

TEST(ContentCodingTest, WhatIsThereIsKept) {
  HttpResponse varies = HttpResponse::Html(200, Words(5000));
  varies.headers.Set("Vary", "Accept");
  varies.headers.Set("ETag", "\"x\"");
  const HttpResponse response = Encoded("zstd", varies);
  EXPECT_EQ(response.headers.Get("Vary"), "Accept, Accept-Encoding");
  EXPECT_EQ(response.headers.Get("ETag"), "W/\"x\"");
}

TEST(ContentCodingTest, SharedBodiesAreNotChanged) {
  HttpResponse shared = HttpResponse::Text(200, "");
  shared.shared_body = std::make_shared<const std::string>(Words(5000));
  const std::string before = *shared.shared_body;
  const HttpResponse response = Encoded("gzip", shared);
  EXPECT_EQ(response.shared_body, nullptr);
  EXPECT_EQ(*shared.shared_body, before);
  EXPECT_EQ(Decoded(kGzip, response.body), before);
  EXPECT_EQ(Encoded("", shared).shared_body, shared.shared_body);
}

TEST(ContentCodingTest, DecidedAndUnsuitableResponsesAreLeftAlone) {
  const std::string body = Words(5000);
  HttpResponse encoded = HttpResponse::Text(200, body);
  encoded.headers.Set("Content-Encoding", "gzip");
  HttpResponse decided = HttpResponse::Text(200, body);
  decided.headers.Set("Vary", "accept-encoding");
  HttpResponse picture = HttpResponse::Text(200, body);
  picture.headers.Set("Content-Type", "image/png");
  HttpResponse fixed = HttpResponse::Text(200, body);
  fixed.headers.Set("Cache-Control", "public, no-transform");
  const HttpResponse part = HttpResponse::Text(206, body);
  for (const HttpResponse& response : {encoded, decided, picture, fixed, part}) {
    const HttpResponse after = Encoded("gzip", response);
    EXPECT_EQ(after.body, body);
    EXPECT_EQ(after.headers.size(), response.headers.size());
  }
}

TEST(ContentCodingTest, RefusedIdentityIsNotSent) {
  const HttpResponse small = Encoded("identity;q=0, gzip", HttpResponse::Text(200, "x"));
  EXPECT_EQ(small.headers.Get("Content-Encoding"), "gzip");
  EXPECT_EQ(Decoded(kGzip, small.body), "x");
  HttpResponse decided = HttpResponse::Text(200, "y");
  decided.headers.Set("Vary", "Accept-Encoding");
  EXPECT_EQ(Decoded(kZstd, Encoded("*;q=0, zstd", decided).body), "y");
  EXPECT_EQ(Encoded("identity;q=0", HttpResponse::Text(200, "x")).status, 406);
  EXPECT_EQ(Encoded("*;q=0", HttpResponse::Text(503, "x")).status, 503);
  EXPECT_EQ(Encoded("*;q=0", HttpResponse{.status = 204, .headers = {}, .body = {}}).status, 204);
}

TEST(ContentCodingTest, AllTextIsEncoded) {
  for (const char* type : {"text/html; charset=utf-8", "application/json", "image/svg+xml",
                           "application/problem+json; charset=utf-8", "application/x-ndjson",
                           "application/vnd.oai.openapi+json;version=3.1"}) {
    HttpResponse response = HttpResponse::Text(200, Words(5000));
    response.headers.Set("Content-Type", type);
    EXPECT_EQ(Encoded("gzip", response).headers.Get("Content-Encoding"), "gzip") << type;
  }
}

}  // namespace
}  // namespace neptune
