#include "index/html/utf8.h"

#include <gtest/gtest.h>

namespace search::html {
namespace {

TEST(Utf8Test, EachInvalidPartIsReplacedOnce) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z\xF0\x9F\x98\x80\xED\xA0\x80"),
            "a\xEF\xBF\xBDz\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8Test, ATruncatedSequenceIsReplacedOnce) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xF0\x9F\x98"), "a\xEF\xBF\xBD");
  EXPECT_EQ(ReplaceInvalidUtf8("\xE0\x80z"), "\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Utf8Test, Windows1252BecomesUtf8) {
  EXPECT_EQ(Windows1252ToUtf8("caf\xE9 \x80 \x9F"), "caf\xC3\xA9 \xE2\x82\xAC \xC5\xB8");
}

TEST(Utf8Test, CollapseSpaceTakesNoBreakSpacesToo) {
  EXPECT_EQ(CollapseSpace(" \n a\xC2\xA0\t b "), "a b");
}

}  // namespace
}  // namespace search::html
