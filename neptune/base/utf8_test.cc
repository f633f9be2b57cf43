#include "neptune/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace neptune {
namespace {

TEST(Utf8Test, DecodesTheEndsOfEachLength) {
  const struct {
    std::string_view text;
    char32_t code_point;
  } cases[] = {{std::string_view("\0", 1), 0},
               {"\x7F", 0x7F},
               {"\xC2\x80", 0x80},
               {"\xDF\xBF", 0x7FF},
               {"\xE0\xA0\x80", 0x800},
               {"\xED\x9F\xBF", 0xD7FF},
               {"\xEE\x80\x80", 0xE000},
               {"\xEF\xBF\xBF", 0xFFFF},
               {"\xF0\x90\x80\x80", 0x10000},
               {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
  for (const auto& one : cases) {
    const DecodedCodePoint decoded = DecodeCodePoint(std::string(one.text) + "x");
    EXPECT_TRUE(decoded.well_formed) << one.text;
    EXPECT_EQ(decoded.code_point, one.code_point);
    EXPECT_EQ(decoded.size, one.text.size());
    EXPECT_TRUE(IsUtf8(one.text));
    std::string encoded;
    AppendUtf8(one.code_point, &encoded);
    EXPECT_EQ(encoded, one.text);
  }
}

TEST(Utf8Test, EncodesWhatItDecodes) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point == 0xD800) code_point = 0xE000;  // no surrogates
    std::string encoded;
    AppendUtf8(code_point, &encoded);
    const DecodedCodePoint decoded = DecodeCodePoint(encoded);
    ASSERT_TRUE(decoded.well_formed && decoded.size == encoded.size()) << uint32_t{code_point};
    ASSERT_EQ(decoded.code_point, code_point);
  }
}

TEST(Utf8Test, MeasuresTheIllFormedPart) {
  const struct {
    std::string_view text;
    size_t size;
  } cases[] = {{"\x80", 1},         {"\xC2", 1},         {"\xE2\x82", 2},     {"\xE2\x82z", 2},
               {"\xE2z", 1},        {"\xED\xA0\x80", 1}, {"\xF0\x9F\x98", 3}, {"\xF0\x9F\x98z", 3},
               {"\xF4\x90\x80", 1}, {"\xFF", 1}};
  for (const auto& one : cases) {
    const DecodedCodePoint decoded = DecodeCodePoint(one.text);
    EXPECT_FALSE(decoded.well_formed) << one.text;
    EXPECT_EQ(decoded.size, 1u) << one.text;
    EXPECT_EQ(decoded.ill_formed_size, one.size) << one.text;
  }
}

TEST(Utf8Test, RefusesWhatIsNotWellFormed) {
  const char* const kOverlong[] = {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF"};
  const char* const kOthers[] = {"\x80",     "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                                 "\xC2",     "\xE2\x82",     "\xE2\x28\xA1",     "\xF0\x9F\x98",
                                 "a\xFFtail"};
  for (const char* const text : kOverlong) EXPECT_FALSE(IsUtf8(text)) << text;
  for (const char* const text : kOthers) EXPECT_FALSE(IsUtf8(text)) << text;
}

TEST(Utf8Test, ReplacesEachBadByte) {
  EXPECT_EQ(ToUtf8("a\xE2\x82z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(ToUtf8("h\xC3\xA9"), "h\xC3\xA9");
}

TEST(Utf8Test, TruncatesBetweenCodePoints) {
  EXPECT_EQ(TruncateUtf8("h\xC3\xA9llo", 2), "h");
  EXPECT_EQ(TruncateUtf8("h\xC3\xA9llo", 3), "h\xC3\xA9");
  EXPECT_EQ(TruncateUtf8("\xF0\x9F\x98\x80", 3), "");
  EXPECT_EQ(TruncateUtf8("short", 9), "short");
}

}  // namespace
}  // namespace neptune
