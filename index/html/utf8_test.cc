#include "index/html/utf8.h"

#include <gtest/gtest.h>

namespace search::html {
namespace {

TEST(Utf8Test, EachInvalidPartIsReplacedOnce) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z\xF0\x9F\x98\x80\xED\xA0\x80"),
            "a\xEF\xBF\xBDz\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8Test, CollapseSpaceTakesNoBreakSpacesToo) {
  EXPECT_EQ(CollapseSpace(" \n a\xC2\xA0\t b "), "a b");
}

}  // namespace
}  // namespace search::html
