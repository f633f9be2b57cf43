// Checks the gnuplot script, and that gnuplot accepts it.

#include "tools/plot/plot.h"

#include <gtest/gtest.h>

namespace search::plot {
namespace {

Plot Small() {
  return {.name = "small",
          .title = "It's a \"plot\"",
          .x = {.label = "load"},
          .y = {.label = "time, ms", .logarithmic = true},
          .series = {{.name = "ours", .dots = {{1, 2, 1.5, 2.5}, {2, 4, 3.5, 4.5}}}},
          .levels = {{"the paper's", 3}},
          .marks = {{"crash", 1.5}}};
}

TEST(PlotTest, TextCannotLeaveItsQuotes) {
  Plot plot = Small();
  plot.title = "a'\nsystem('touch x')";
  EXPECT_NE(GnuplotScript(plot).find("set title 'a'' system(''touch x'')'"), std::string::npos);
}

TEST(PlotTest, ValuesThatAreNoNumbersAreLeftOut) {
  Plot plot = Small();
  plot.series[0].dots.push_back({3, 1.0 / 0.0});
  EXPECT_EQ(GnuplotScript(plot).find("inf"), std::string::npos);
}

TEST(PlotTest, SvgFollowsTheReadersColourScheme) {
  const auto svg = RenderSvg(Small());
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_NE(svg->find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(svg->find("crash"), std::string::npos);
  EXPECT_NE(svg->find("ours"), std::string::npos);
  EXPECT_EQ(svg->find("color='white'/>"), std::string::npos) << "a disc that a dark page shows";
}

TEST(PlotTest, LevelsDifferInTheirDashes) {
  Plot plot = Small();
  plot.levels = {{"ideal", 1}, {"random", 2}};
  const std::string script = GnuplotScript(plot);
  EXPECT_NE(script.find("1 with lines dt 2"), std::string::npos) << script;
  EXPECT_NE(script.find("2 with lines dt 3"), std::string::npos) << script;
}

TEST(PlotTest, NothingToShowIsAnError) {
  EXPECT_FALSE(RenderSvg({.name = "empty", .title = "", .x = {}, .y = {}}).ok());
}

TEST(PlotTest, ImageCarriesItsBytes) {
  EXPECT_EQ(ImageTag("ab", "a < \"b\""),
            "<img alt=\"a &lt; &quot;b&quot;\" src=\"data:image/svg+xml;base64,YWI=\">");
}

}  // namespace
}  // namespace search::plot
