#include "frontend/http/prepared_content.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "neptune/base/decoded_text.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::ContentCoding;
using neptune::ContentCodingName;
using neptune::HttpResponse;
using enum neptune::ContentCoding;

std::string Decoded(ContentCoding coding, const std::string& body) {
  if (coding == kIdentity) return body;
  return coding == kGzip ? neptune::DecodedGzip(body) : neptune::DecodedZstd(body);
}

std::string Words(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) neptune::StrAppend(&text, "word", i * i % 997, " ");
  text.resize(size);
  return text;
}

TEST(PreparedContentTest, HasTheBodyInEachCoding) {
  const std::string body = Words(5000);
  const PreparedContent content(body, {{"Content-Type", "text/css"}, {"Cache-Control", "public"}});
  std::string tags;
  for (const ContentCoding coding : {kIdentity, kGzip, kZstd}) {
    const HttpResponse answer =
        content.Respond({{"Accept-Encoding", std::string(ContentCodingName(coding))}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(Decoded(coding, std::string(answer.body_bytes())), body);
    EXPECT_EQ(answer.headers.Get("Vary"), "Accept-Encoding");
    EXPECT_EQ(answer.headers.Has("Content-Encoding"), coding != kIdentity);
    EXPECT_EQ(tags.find(answer.headers.Get("ETag")), std::string::npos);
    tags += answer.headers.Get("ETag");
    EXPECT_EQ(answer.shared_body,
              content.Respond({{"Accept-Encoding", ContentCodingName(coding)}}).shared_body);
  }
}

TEST(PreparedContentTest, ConfirmsWhatAClientHas) {
  const PreparedContent content(Words(5000), {{"Content-Type", "text/css"},
                                              {"Cache-Control", "public"},
                                              {"Content-Security-Policy", "none"}});
  const std::string tag(content.Respond({{"Accept-Encoding", "gzip"}}).headers.Get("ETag"));
  const HttpResponse confirmed =
      content.Respond({{"Accept-Encoding", "gzip"}, {"If-None-Match", "\"a,b\", W/" + tag}});
  EXPECT_EQ(confirmed.status, 304);
  EXPECT_TRUE(confirmed.body_bytes().empty());
  EXPECT_EQ(confirmed.headers.Get("ETag"), tag);
  EXPECT_EQ(confirmed.headers.Get("Cache-Control"), "public");
  EXPECT_EQ(confirmed.headers.Get("Content-Security-Policy"), "none");
  EXPECT_EQ(confirmed.headers.Get("Vary"), "Accept-Encoding");
  EXPECT_FALSE(confirmed.headers.Has("Content-Type"));
  EXPECT_FALSE(confirmed.headers.Has("Content-Encoding"));
  EXPECT_EQ(content.Respond({{"If-None-Match", tag}}).status, 200) << "another coding";
}

TEST(PreparedContentTest, SmallBodiesHaveOneForm) {
  const PreparedContent content("tiny", {{"Content-Type", "text/plain"}});
  const HttpResponse answer = content.Respond({{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.body_bytes(), "tiny");
  EXPECT_FALSE(answer.headers.Has("Content-Encoding"));
}

TEST(PreparedContentTest, ReadsListsOfTags) {
  EXPECT_TRUE(NamesEntityTag("\"a\"", "\"a\""));
  EXPECT_TRUE(NamesEntityTag("*", "\"a\""));
  EXPECT_TRUE(NamesEntityTag(" ,, W/\"b\" ,\t\"a\"", "W/\"a\""));
  EXPECT_TRUE(NamesEntityTag("\"x,\\\",\"a\"", "\"a\"")) << "a backslash quotes nothing";
  for (const char* list : {"", "a", "\"a", "\"b\"", "\"a\"x", "\"b\" \"a", "W/", "W/*x"}) {
    EXPECT_FALSE(NamesEntityTag(list, "\"c\"")) << list;
  }
}

}  // namespace
}  // namespace search::frontend
