#include "tools/corpus/json_lines.h"

#include <string>

#include "gtest/gtest.h"
#include "tools/corpus/corpus_document.h"

namespace search::tools {
namespace {

neptune::StatusOr<CorpusDocument> Parse(std::string line, JsonLinesOptions options = {}) {
  const size_t size = line.size();
  line.append(JsonLineParser::kPadding, '\0');
  return JsonLineParser(std::move(options)).Parse(std::string_view(line.data(), size));
}

void ExpectBad(const std::string& line, const std::string& reason) {
  const auto document = Parse(line);
  ASSERT_FALSE(document.ok()) << line;
  EXPECT_EQ(document.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(document.status().message()).find(reason), std::string::npos)
      << document.status();
}

TEST(JsonLinesTest, WrittenDocumentsAreReadBackUnchanged) {
  const CorpusDocument document{.url = "doc:x/a \"b\".html",
                                .title = "Tab\there \\ é",
                                .headings = {"One", ""},
                                .text = "line\nline\x01 “q”",
                                .site = "x",
                                .links = {"doc:x/b.html"},
                                .anchors = {{"doc:x/b.html", "to b"}},
                                .language = "en",
                                .date = "2024-03-05",
                                .public_url = "https://x.example/a",
                                .structure = "p4/1pa=doc:x/b.html 4//"};
  std::string line;
  AppendJsonLine(document, &line);
  ASSERT_TRUE(line.ends_with('\n'));
  line.pop_back();
  const auto read = Parse(line);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, document);
}

TEST(JsonLinesTest, PlainArticlesGetUrlAndSite) {
  const auto document = Parse(R"({"id": "12", "title": "T", "text": "x", "extra": [1, {"a": 2}]})",
                              {.id_url_prefix = "wiki:", .default_site = "wikipedia"});
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->url, "wiki:12");
  EXPECT_EQ(document->site, "wikipedia");
}

TEST(JsonLinesTest, IdMayBeANumber) { EXPECT_EQ(Parse(R"({"id": 7, "text": "x"})")->url, "id:7"); }

TEST(JsonLinesTest, LanguageAndDateAreTextsOrNone) {
  const auto document =
      Parse(R"({"id": 7, "text": "x", "lang": "pt-BR", "date": "2024-03-05T10:00Z"})");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->language, "pt-BR");
  EXPECT_EQ(document->date, "2024-03-05");
  const auto other = Parse(R"({"id": 7, "text": "x", "lang": null, "date": 1700000000})");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->language + other->date, "");
}

TEST(JsonLinesTest, BadLinesSayWhatIsWrong) {
  ExpectBad("", "not JSON");
  ExpectBad("[1]", "not a JSON object");
  ExpectBad("{\"id\": \"1\"", "JSON");
  ExpectBad(R"({"id": "1", "text": 5})", "field 'text' is not a string");
  ExpectBad(R"({"id": "1", "text": "x", "links": "y"})", "field 'links' is not a list");
  ExpectBad(R"({"id": "1", "text": "x", "links": [1]})", "field 'links' is not a string");
  ExpectBad(R"({"id": "1", "text": "x", "anchors": [1]})", "not an object");
  ExpectBad(R"({"text": "x"})", "neither 'url' nor 'id'");
  ExpectBad(R"({"id": "1"})", "neither 'title' nor 'text'");
  ExpectBad("{\"id\": \"1\", \"text\": \"\xFF\"}", "UTF-8");
  ExpectBad(R"({"id": "1", "text": "x"} {})", "follows");
  ExpectBad(R"({"url": ")" + std::string(3000, 'u') + R"(", "text": "x"})", "url longer");
}

TEST(JsonLinesTest, StructuresAndPublicAddressesAreChecked) {
  ExpectBad(R"({"id": 1, "text": "x", "structure": "p2/"})", "field 'structure'");
  ExpectBad(R"({"id": 1, "text": "x", "structure": "pa=javascript:x 1//"})", "field 'structure'");
  ExpectBad(R"({"id": 1, "text": "x", "public_url": "javascript:x"})", "field 'public_url'");
  ExpectBad(R"({"id": 1, "text": "x", "public_url": "doc:x"})", "field 'public_url'");
}

TEST(JsonLinesTest, ATextThatIsCutLosesItsStructure) {
  const auto document = Parse(R"({"id": 1, "structure": "p1/", "text": ")" +
                              std::string(CorpusLimits::kTextSizeMax + 1, 'x') + "\"}");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->structure, "");
}

TEST(JsonLinesTest, LongTextsAreCutAtACharacter) {
  const auto document =
      Parse(R"({"id": 1, "text": "x", "site": ")" + std::string(99, 's') + "é\"}");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->site, std::string(99, 's'));
}

}  // namespace
}  // namespace search::tools
