#include "tools/search/wrapped_text.h"

#include <gtest/gtest.h>

#include <string>

namespace search::tools {
namespace {

std::string Wrapped(std::string_view text, const WrapOptions& options) {
  WrappedText wrapped(options);
  wrapped.Add(text);
  return wrapped.Take();
}

TEST(WrappedTextTest, BreaksBetweenWords) {
  EXPECT_EQ(Wrapped("one two three four five six", {.width = 20}),
            "one two three four\nfive six\n");
}

TEST(WrappedTextTest, MakesOneBlankOfAll) {
  EXPECT_EQ(Wrapped("  a \n\t b  ", {.width = 20}), "a b\n");
}

TEST(WrappedTextTest, IndentsFurtherLines) {
  EXPECT_EQ(Wrapped("one two three four five", {.width = 20, .indent = 4, .first_indent = 2}),
            "  one two three four\n    five\n");
}

TEST(WrappedTextTest, BreaksWordsThatAreTooWide) {
  EXPECT_EQ(Wrapped(std::string(45, 'x'), {.width = 20}),
            std::string(20, 'x') + "\n" + std::string(20, 'x') + "\n" + "xxxxx\n");
}

TEST(WrappedTextTest, CountsColumnsNotBytes) {
  EXPECT_EQ(Wrapped("日本語日本語日本語日 x", {.width = 20}), "日本語日本語日本語日\nx\n");
  EXPECT_EQ(Wrapped("e\xCC\x81 naïve", {.width = 20}), "e\xCC\x81 naïve\n");
}

TEST(WrappedTextTest, StylesEachRunOfAWord) {
  WrappedText wrapped({.width = 20, .has_colours = true});
  wrapped.Add("the ");
  wrapped.Add("table", TextStyle::kMatch);
  wrapped.Add("'s end");
  EXPECT_EQ(wrapped.Take(), "the \x1b[1;33mtable\x1b[0m's end\n");
}

TEST(WrappedTextTest, StyleEndsBeforeTheIndentOfTheNextLine) {
  WrappedText wrapped({.width = 20, .indent = 2, .has_colours = true});
  wrapped.Add("one two three four five", TextStyle::kDim);
  EXPECT_EQ(wrapped.Take(), "\x1b[2mone two three four\x1b[0m\n  \x1b[2mfive\x1b[0m\n");
}

TEST(WrappedTextTest, LeavesOutWhatCommandsTerminals) {
  EXPECT_EQ(Wrapped("a\x1b[31mb\x07", {.width = 20}), "a\xEF\xBF\xBD[31mb\xEF\xBF\xBD\n");
  EXPECT_EQ(Wrapped("\xE2\x80\xAE"
                    "abc",
                    {.width = 20}),
            "abc\n");
  EXPECT_EQ(Wrapped("\xC2\x9B"
                    "31m",
                    {.width = 20}),
            "\xEF\xBF\xBD"
            "31m\n");
}

}  // namespace
}  // namespace search::tools
