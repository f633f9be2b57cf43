// Line plots as SVG that read well in print and on a dark page.
//
// A Plot is data; RenderSvg lets gnuplot draw it. Axes and text take their colour from a style
// sheet inside the SVG that follows the reader's preference for light or dark; the background is
// transparent; every series has a colour that the colour-blind can tell apart, and a point shape of
// its own for print in black and white.
//
// Threads: Plot is thread-compatible; RenderSvg is thread-safe.
// Errors: kNotFound gnuplot is not installed; kInternal it rejected the plot.
// Limits: kSeriesCountMax series; more share colours and shapes.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::plot {

inline constexpr size_t kSeriesCountMax = 8;

struct Dot {
  double x = 0;
  double y = 0;
  // Ends of the error bar; absent: none.
  std::optional<double> low{};
  std::optional<double> high{};
};

struct Series {
  std::string name;
  std::vector<Dot> dots;
  enum class Style { kLinesAndPoints, kLines, kPoints, kSteps } style = Style::kLinesAndPoints;
};

// A line across the plot that a figure is compared with.
struct Level {
  std::string name;
  double y = 0;
};

// Something that happened at one x, such as a fault: a vertical line with its name.
struct Mark {
  std::string name;
  double x = 0;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  // Absent: fitted to the data.
  std::optional<double> low{};
  std::optional<double> high{};
};

struct Plot {
  // Names the file; unique in its report. Letters, digits, '_' and '-'.
  std::string name;
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series{};
  std::vector<Level> levels{};
  std::vector<Mark> marks{};
};

// The gnuplot script; a pure function, public for tests.
std::string GnuplotScript(const Plot& plot);

neptune::StatusOr<std::string> RenderSvg(const Plot& plot);

// The SVG as an HTML image that carries its bytes with it.
std::string ImageTag(const std::string& svg, const std::string& alternative_text);

// Escapes text for HTML, also inside quoted attributes.
std::string EscapeHtml(std::string_view text);

}  // namespace search::plot
