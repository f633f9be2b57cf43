// Golden drawings, and input that is not a tree.

#include "neptune/dac/tree_drawing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Servers = std::vector<DrawnServer>;

TEST(DrawTreeTest, BranchesFollowTheParents) {
  const Servers servers = {
      {"n3", -1, "p3, 0.4 ms, answered"},       {"n1", 0, "p1 p5, 0.9 ms, answered"},
      {"n4", 1, "p4, 3.1 ms, deadline passed"}, {"n2", 0, "p2, 1.2 ms, answered"},
      {"node-10", 3, "p10, 1.3 ms, answered"},  {"n6", 2, "p6"},
  };
  EXPECT_EQ(DrawTree(servers),
            "n3             p3, 0.4 ms, answered\n"
            "├─ n1          p1 p5, 0.9 ms, answered\n"
            "│  └─ n4       p4, 3.1 ms, deadline passed\n"
            "│     └─ n6    p6\n"
            "└─ n2          p2, 1.2 ms, answered\n"
            "   └─ node-10  p10, 1.3 ms, answered\n");
}

TEST(DrawTreeTest, ServersStandInAnyOrder) {
  EXPECT_EQ(DrawTree(Servers{{"leaf", 2, ""}, {"inner", 2, ""}, {"root", -1, ""}, {"low", 1, ""}}),
            "root\n"
            "├─ leaf\n"
            "└─ inner\n"
            "   └─ low\n");
}

TEST(DrawTreeTest, OneServerIsOneLine) {
  EXPECT_EQ(DrawTree(Servers{{"n1", -1, "p0"}}), "n1  p0\n");
}

TEST(DrawTreeTest, NothingIsEmpty) { EXPECT_EQ(DrawTree({}), ""); }

TEST(DrawTreeTest, NamesBeyondAsciiAreAligned) {
  EXPECT_EQ(DrawTree(Servers{{"köln", -1, "p0"}, {"rom", 0, "p1"}}),
            "köln    p0\n"
            "└─ rom  p1\n");
}

TEST(DrawTreeTest, WhatHangsOnNoRootIsListed) {
  EXPECT_EQ(
      DrawTree(Servers{{"a", -1, ""}, {"b", 2, ""}, {"c", 1, ""}, {"d", 99, ""}, {"e", -7, ""}}),
      "a\n"
      "? b\n"
      "? c\n"
      "? d\n"
      "? e\n");
}

TEST(DrawTreeTest, LinesAreBounded) {
  Servers list;
  for (int32_t i = 0; i < 100'000; ++i) list.push_back({StrCat("n", i), i - 1, ""});
  const std::string text = DrawTree(list);
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
            kDrawnServerCountMax + 1);
  EXPECT_NE(text.find("\nand 99488 more\n"), std::string::npos);
}

}  // namespace
}  // namespace neptune
