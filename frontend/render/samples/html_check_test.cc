// Tests that the checker finds each kind of problem.

#include "frontend/render/samples/html_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace search::frontend {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Page(const std::string& body) {
  return "<!DOCTYPE html><html lang=\"en\"><head><title>t</title></head><body><main><h1>h</h1>" +
         body + "</main></body></html>";
}

TEST(HtmlCheckTest, AcceptsAGoodPage) {
  EXPECT_THAT(HtmlProblems(Page("<form><label for=\"q\">q</label><input id=\"q\"></form>")),
              IsEmpty());
}

TEST(HtmlCheckTest, FindsWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"<p>never closed", "not closed"},
      {"<form>never closed", "not closed"},
      {"<script>alert(1)</script>", "element script"},
      {"<p onclick=\"x\">p</p>", "attribute onclick"},
      {"<p style=\"x\">p</p>", "attribute style"},
      {"<a href=\"javascript:x\">a</a>", "unsafe link"},
      {"<a href=\"/x\"></a>", "without a name"},
      {"<p id=\"a\">p</p><p id=\"a\">p</p>", "used twice"},
      {"<input id=\"q\">", "without label"},
      {"<h3>too deep</h3>", "skips a level"},
      {"<h1>second</h1>", "elements h1"},
      {"<!-- x -->", "a comment"},
      {"<table><tr><td>x</td></tr></table>", "added by the parser"},
  };
  for (const auto& [body, problem] : cases) {
    EXPECT_THAT(HtmlProblems(Page(body)), Contains(HasSubstr(problem))) << body;
  }
}

TEST(HtmlCheckTest, SkeletonHasNamesOnly) {
  EXPECT_EQ(HtmlSkeleton(Page("<p id=\"a\">text</p>")), HtmlSkeleton(Page("<p id=\"b\">x</p>")));
  EXPECT_NE(HtmlSkeleton(Page("<p id=\"a\">text</p>")), HtmlSkeleton(Page("<p>text</p>")));
}

}  // namespace
}  // namespace search::frontend
