#include "frontend/render/json/json_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using Json = nlohmann::json;

template <typename T>
std::string Written(const T& value) {
  JsonWriter json;
  json.Value(value);
  return json.Take();
}

TEST(JsonWriterTest, WritesNestedValuesWithCommasBetween) {
  JsonWriter json;
  {
    const JsonObject document(json);
    json.Member("text", "a");
    json.Member("yes", true);
    json.Name("none");
    json.Null();
    {
      const JsonArray list(json, "list");
      json.Value(1);
      json.Value(uint64_t{2});
      const JsonArray inner(json);
    }
    { const JsonObject empty(json, "empty"); }
    json.ListMember("words", std::vector<std::string>{"x", "y"});
    json.Name("raw");
    json.Raw("{\"r\":1}");
    json.Member("last", std::string("z"));
  }
  EXPECT_EQ(json.Take(),
            "{\"text\":\"a\",\"yes\":true,\"none\":null,\"list\":[1,2,[]],\"empty\":{},"
            "\"words\":[\"x\",\"y\"],\"raw\":{\"r\":1},\"last\":\"z\"}");
  json.Value("again");
  EXPECT_EQ(json.Take(), "\"again\"");
}

TEST(JsonWriterTest, EscapesWhatJsonDemandsAndNothingElse) {
  for (int c = 0; c < 0x80; ++c) {
    const std::string text = {'x', static_cast<char>(c), 'y'};
    const std::string written = Written(text);
    EXPECT_EQ(Json::parse(written), text) << c;
    EXPECT_EQ(written.size() == 5, c >= 0x20 && c != '"' && c != '\\') << c;
  }
  EXPECT_EQ(Written("\"\\\n\r\t\x01</script>"), "\"\\\"\\\\\\n\\r\\t\\u0001</script>\"");
}

TEST(JsonWriterTest, FindsSpecialBytesAtEveryPlace) {
  for (const char special : {'"', '\\', '\x1f', '\0'}) {
    for (size_t size = 1; size < 40; ++size) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, at % 2 == 0 ? '!' : '~');
        text[at] = special;
        text[size - 1 - at] = special;
        EXPECT_EQ(Json::parse(Written(text)), text);
      }
    }
  }
}

TEST(JsonWriterTest, KeepsTextOfAllScripts) {
  const std::string text = "naïve 日本語 𝄞 \x7f\u0080\u07ff\u0800\uffff\U0010ffff";
  EXPECT_EQ(Written(text), neptune::StrCat("\"", text, "\""));
}

TEST(JsonWriterTest, MendsBrokenUtf8AsOthersDo) {
  const std::mt19937::result_type seed = 20;
  std::mt19937 random(seed);
  // Bytes that begin, continue and break sequences.
  const std::string bytes = "a\"\x7f\x80\xbf\xc1\xc2\xe0\xa0\xed\x9f\xef\xf0\x90\xf4\x8f\xf5\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t size = random() % 20; text.size() < size;) text += bytes[random() % bytes.size()];
    const std::string expected = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    ASSERT_EQ(Json::parse(Written(text)), Json::parse(expected)) << "seed " << seed << " " << i;
  }
}

TEST(JsonWriterTest, NumbersReadBackAsTheyWere) {
  EXPECT_EQ(Written(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(Written(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(Written(-1), "-1");
  EXPECT_EQ(Written(0.1), "0.1");
  EXPECT_EQ(Written(4.0), "4");
  EXPECT_EQ(Written(std::nan("")), "null");
  EXPECT_EQ(Written(-INFINITY), "null");
  const std::mt19937_64::result_type seed = 21;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(Json::parse(Written(number)).get<double>(), number) << "seed " << seed << " " << i;
  }
  for (const double edge : {std::numeric_limits<double>::max(), -0.0, 5e-324}) {
    EXPECT_EQ(Json::parse(Written(edge)).get<double>(), edge);
  }
}

TEST(JsonWriterTest, TextInPiecesCountsItsCodePoints) {
  JsonWriter json;
  json.BeginText();
  EXPECT_EQ(json.Piece("plain \" text\n"), 13u);
  EXPECT_EQ(json.Piece("日本𝄞"), 3u);
  EXPECT_EQ(json.Piece(""), 0u);
  EXPECT_EQ(json.Piece("\xff\xe2\x82x"), 3u) << "each ill-formed part is one";
  json.EndText();
  EXPECT_EQ(Json::parse(json.Take()), "plain \" text\n日本𝄞\ufffd\ufffdx");
}

TEST(JsonWriterDeathTest, AnUnfinishedDocumentIsABug) {
  JsonWriter json;
  json.BeginArray();
  EXPECT_DEATH(json.Take(), "has not ended");
}

}  // namespace
}  // namespace search::frontend
