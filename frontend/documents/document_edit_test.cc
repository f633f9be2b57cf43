#include "frontend/documents/document_edit.h"

#include <gtest/gtest.h>

#include <string>

#include "index/updates/document_change.h"

namespace search::frontend {
namespace {

using neptune::StatusCode;

std::string ReasonFor(std::string_view text) {
  const auto edit = ParseDocument(text);
  EXPECT_EQ(edit.status().code(), StatusCode::kInvalidArgument) << text;
  return std::string(neptune::ToStd(edit.status().message()));
}

TEST(ParseDocumentTest, TakesAllMembers) {
  const auto edit = ParseDocument(
      R"({"id": "17", "url": "http://a.b/c", "title": "T", "text": "x\ny", "site": "s", "static_rank": 0.25, "lang": "en", "date": "2024-03-05"})");
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(edit->doc_id, 17U);
  ASSERT_TRUE(edit->content.has_value());
  EXPECT_EQ(edit->content->url(), "http://a.b/c");
  EXPECT_EQ(edit->content->title(), "T");
  EXPECT_EQ(edit->content->text(), "x\ny");
  EXPECT_EQ(edit->content->site(), "s");
  EXPECT_EQ(edit->content->static_rank(), 0.25F);
  EXPECT_EQ(edit->content->language(), "en");
  EXPECT_EQ(edit->content->date(), "2024-03-05");
}

TEST(ParseDocumentTest, NumberAndSiteDefaultToTheUrl) {
  const auto edit = ParseDocument(R"({"url": "https://me@docs.a.org:8080/x?q=//b"})");
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(edit->doc_id, index::DocIdOfUrl("https://me@docs.a.org:8080/x?q=//b"));
  EXPECT_EQ(edit->url, "https://me@docs.a.org:8080/x?q=//b");
  EXPECT_EQ(edit->content->site(), "docs.a.org");
  EXPECT_FALSE(edit->content->has_static_rank());
  EXPECT_EQ(ParseDocument(R"({"url": "plain"})")->content->site(), "");
  EXPECT_EQ(ParseDocument(R"({"url": "u", "id": 18446744073709551615})")->doc_id,
            18446744073709551615U);
  EXPECT_FALSE(ParseDocument(R"({"url": "u", "id": 1})")->url.has_value());
}

TEST(ParseDocumentTest, APageIsKeptToBeRead) {
  const auto edit = ParseDocument(R"({"url": "u", "html": "<p>a"})");
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(edit->html, "<p>a");
  EXPECT_EQ(edit->content->text(), "");
  EXPECT_FALSE(ParseDocument(R"({"url": "u", "text": "<p>a"})")->html.has_value());
}

TEST(ParseDocumentTest, ARefusalNamesTheMember) {
  EXPECT_EQ(ReasonFor("{"), "not JSON, or not UTF-8");
  EXPECT_EQ(ReasonFor("{\"url\": \"\xff\"}"), "not JSON, or not UTF-8");
  EXPECT_EQ(ReasonFor("[]"), "not a JSON object");
  EXPECT_EQ(ReasonFor("{}"), "member url: missing");
  EXPECT_EQ(ReasonFor(R"({"url": 5})"), "member url: not a string");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "body": "<p>"})"), "unknown member body");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "html": 5})"), "member html: not a string");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "html": "<p>", "text": "a"})"),
            "members html and text exclude each other");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "html": ")" + std::string(kEditHtmlSizeMax + 1, 'a') + "\"}"),
            "member html: 2097153 bytes, more than 2097152");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "id": "-1"})"), "member id: not a document's number");
  EXPECT_EQ(ReasonFor(R"({"url": "u", "id": 1.5})"), "member id: not a document's number");
  EXPECT_NE(ReasonFor(R"({"url": "u", "date": "5 March"})").find("YYYY-MM-DD"), std::string::npos);
  EXPECT_NE(ReasonFor(R"({"url": "u", "lang": "?"})").find("language"), std::string::npos);
  EXPECT_EQ(ReasonFor(R"({"url": "u", "static_rank": "1"})"), "member static_rank: not a number");
  EXPECT_NE(ReasonFor(R"({"url": "u", "static_rank": 2})").find("static rank"), std::string::npos);
  EXPECT_NE(
      ReasonFor(R"({"url": "u", "text": ")" + std::string(index::kTextSizeMax + 1, 'a') + "\"}")
          .find("text has"),
      std::string::npos);
  EXPECT_NE(ReasonFor(std::string(kEditSizeMax + 1, ' ')).find("more than"), std::string::npos);
}

TEST(ParseDocumentTest, DeepNestingIsRefusedLikeAnythingElse) {
  EXPECT_EQ(ReasonFor(std::string(kEditSizeMax, '[')),
            "JSON with more than 8 arrays and objects within each other");
  std::string many = "{\"url\": [0";
  for (int i = 0; i < 100; ++i) many += ",0";
  EXPECT_EQ(ReasonFor(many + "]}"), "JSON with more than 100 values");
  EXPECT_EQ(ReasonFor("{\"url\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
            "JSON with more than 8 arrays and objects within each other");
  EXPECT_EQ(ReasonFor(R"({"url": [[]]})"), "member url: not a string");
}

TEST(ParseBulkTest, LinesAreIndependent) {
  const auto lines = ParseBulk(
      "{\"url\": \"u\"}\r\n\n{\"delete\": \"7\"}\nnonsense\n"
      "{\"delete\": 8, \"url\": \"u\"}");
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_EQ(lines->size(), 4U);
  EXPECT_EQ((*lines)[0].number, 1U);
  EXPECT_TRUE((*lines)[0].edit->content.has_value());
  EXPECT_EQ((*lines)[1].number, 3U);
  EXPECT_EQ((*lines)[1].edit->doc_id, 7U);
  EXPECT_FALSE((*lines)[1].edit->content.has_value());
  EXPECT_EQ((*lines)[2].edit.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ((*lines)[3].edit.status().code(), StatusCode::kInvalidArgument);
}

TEST(ParseBulkTest, ALineMayRemoveByUrl) {
  const auto lines = ParseBulk(
      "{\"delete_url\": \"http://a/\"}\n{\"delete_url\": \"\"}\n"
      "{\"delete_url\": 7}\n{\"delete_url\": \"u\", \"delete\": 8}");
  ASSERT_EQ(lines->size(), 4U);
  EXPECT_EQ((*lines)[0].edit->url, "http://a/");
  EXPECT_FALSE((*lines)[0].edit->content.has_value());
  for (size_t i = 1; i < 4; ++i) EXPECT_FALSE((*lines)[i].edit.ok()) << i;
  EXPECT_FALSE(RemovalOfUrl(std::string(index::kUrlSizeMax + 1, 'u')).ok());
}

TEST(ParseBulkTest, BodiesAreBounded) {
  std::string body;
  for (size_t i = 0; i < kEditsMax; ++i) body += "{}\n";
  EXPECT_EQ(ParseBulk(body)->size(), kEditsMax);
  EXPECT_EQ(ParseBulk(body + "{}").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ParseBulk(std::string(kBulkSizeMax + 1, '\n')).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseBulk("")->size(), 0U);
}

}  // namespace
}  // namespace search::frontend
