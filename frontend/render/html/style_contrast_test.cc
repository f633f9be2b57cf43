// Checks the colours of the style sheet against WCAG 2.1 AA in both colour schemes: 4.5:1 for text,
// 3:1 for edges and icons.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "frontend/render/html/static_files.h"

namespace search::frontend {
namespace {

using Palette = std::map<std::string, std::string>;

std::string_view StyleSheet() {
  for (const StaticFile& file : StaticFiles()) {
    if (file.path == StyleSheetPath()) return file.body;
  }
  return {};
}

// The custom properties of the first block after `marker` that have a colour as value.
Palette PaletteAfter(std::string_view marker) {
  Palette palette;
  std::string_view css = StyleSheet();
  css.remove_prefix(std::min(css.size(), css.find(marker)));
  css = css.substr(0, css.find('}'));
  while (css.find("--") != std::string_view::npos) {
    css.remove_prefix(css.find("--") + 2);
    const std::string_view name = css.substr(0, css.find(':'));
    const std::string_view value = css.substr(css.find(": ") + 2, 7);
    if (value[0] == '#') palette[std::string(name)] = value;
  }
  return palette;
}

double Luminance(const std::string& colour) {
  double linear[3];
  for (int i = 0; i < 3; ++i) {
    const double part = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    linear[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

double Contrast(const std::string& a, const std::string& b) {
  const double one = Luminance(a);
  const double other = Luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

void CheckPalette(const Palette& palette) {
  const auto check = [&](const char* front, const char* back, double contrast_min) {
    ASSERT_TRUE(palette.contains(front) && palette.contains(back)) << front << " on " << back;
    EXPECT_GE(Contrast(palette.at(front), palette.at(back)), contrast_min)
        << front << " on " << back;
  };
  for (const char* back : {"paper", "surface"}) {
    for (const char* front : {"ink", "soft", "link", "visited", "accent"}) check(front, back, 4.5);
    check("focus", back, 3);
    check("field-line", back, 3);
  }
  check("accent-ink", "accent", 4.5);
  check("mark-ink", "mark-paper", 4.5);
  check("warning-ink", "warning-paper", 4.5);
}

TEST(StyleContrastTest, LightColoursCanBeRead) { CheckPalette(PaletteAfter(":root")); }

TEST(StyleContrastTest, DarkColoursCanBeRead) {
  CheckPalette(PaletteAfter("prefers-color-scheme: dark"));
}

TEST(StyleContrastTest, ContrastIsThatOfWcag) {
  EXPECT_NEAR(Contrast("#000000", "#ffffff"), 21, 1e-9);
  EXPECT_NEAR(Contrast("#777777", "#ffffff"), 4.478, 1e-3);
}

TEST(StyleContrastTest, NothingIsLoadedFromElsewhere) {
  EXPECT_EQ(StyleSheet().find("url("), std::string_view::npos);
  EXPECT_EQ(StyleSheet().find("@import"), std::string_view::npos);
}

}  // namespace
}  // namespace search::frontend
