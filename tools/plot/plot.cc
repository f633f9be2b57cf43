#include "tools/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "neptune/base/strings.h"
#include "tools/corpus/child_process.h"
#include "tools/terminal/progress.h"

namespace search::plot {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

// Okabe and Ito's colours, without black and yellow, which are invisible on one of the two
// backgrounds.
constexpr const char* kColours[kSeriesCountMax] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                                   "#CC79A7", "#56B4E9", "#8C6BB1", "#7F7F7F"};
constexpr int kShapes[kSeriesCountMax] = {7, 5, 9, 13, 6, 4, 8, 12};
// Gnuplot's numbers of dash patterns that are easy to distinguish.
constexpr int kLevelDashes[] = {2, 3, 4, 5};
// The colours in which gnuplot draws text, axes and grid, and the style sheet's names for them.
constexpr const char* kInk = "#010203";
constexpr const char* kFaint = "#040506";

// Rules of a style sheet win over the attributes in which gnuplot writes colours.
constexpr const char* kStyleSheet =
    "<style>"
    "[stroke='rgb(  1,   2,   3)']{stroke:#222}[fill='rgb(1,2,3)']{fill:#222}"
    "[stroke='rgb(  4,   5,   6)']{stroke:#ccc}"
    "@media (prefers-color-scheme:dark){[color='black']{color:#ddd}"
    "[stroke='rgb(  1,   2,   3)']{stroke:#ddd}[fill='rgb(1,2,3)']{fill:#ddd}"
    "[stroke='rgb(  4,   5,   6)']{stroke:#444}}"
    "</style>";

// A string for gnuplot: in single quotes, in which nothing but the quote itself means anything.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += (c == '\n' || c == '\r') ? ' ' : c;
  }
  return quoted + "'";
}

void AppendRange(std::string* script, const char* axis, const Axis& options) {
  const auto end = [](const std::optional<double>& value) {
    return value ? StrCat(*value) : std::string("*");
  };
  StrAppend(script, "set ", axis, "range [", end(options.low), ":", end(options.high), "]\n");
  StrAppend(script, "set ", axis, "label ", Quoted(options.label), " noenhanced textcolor rgb '",
            kInk, "'\n");
  if (options.logarithmic) StrAppend(script, "set logscale ", axis, "\n");
}

const char* StyleName(Series::Style style) {
  switch (style) {
    case Series::Style::kLines:
      return "lines";
    case Series::Style::kPoints:
      return "points";
    case Series::Style::kSteps:
      return "steps";
    case Series::Style::kLinesAndPoints:
      break;
  }
  return "linespoints";
}

bool HasBars(const Series& series) {
  for (const Dot& dot : series.dots) {
    if (dot.low || dot.high) return true;
  }
  return false;
}

void AppendData(std::string* script, size_t number, const Series& series) {
  StrAppend(script, "$data", number, " << END\n");
  for (const Dot& dot : series.dots) {
    if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
    StrAppend(script, dot.x, " ", dot.y, " ", dot.low.value_or(dot.y), " ",
              dot.high.value_or(dot.y), "\n");
  }
  StrAppend(script, "END\n");
}

std::string WithStyleSheet(std::string svg) {
  const size_t head = svg.find("<svg");
  const size_t end = head == std::string::npos ? head : svg.find('>', head);
  if (end != std::string::npos) svg.insert(end + 1, kStyleSheet);
  return svg;
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

std::string GnuplotScript(const Plot& plot) {
  std::string script = StrCat(
      "set terminal svg size 720,420 dynamic font 'sans-serif,13' linewidth 1.4\n"
      "set encoding utf8\nset border 3 lc rgb '",
      kInk, "'\nset tics nomirror textcolor rgb '", kInk, "'\nset grid lc rgb '", kFaint,
      "' lw 0.6\nset key outside right top textcolor rgb '", kInk, "' noenhanced\nset title ",
      Quoted(plot.title), " textcolor rgb '", kInk, "' noenhanced\n");
  AppendRange(&script, "x", plot.x);
  AppendRange(&script, "y", plot.y);
  int label = 0;
  for (const Mark& mark : plot.marks) {
    ++label;
    StrAppend(&script, "set arrow ", label, " from first ", mark.x, ", graph 0 to first ", mark.x,
              ", graph 1 nohead lc rgb '", kInk, "' dt 3\nset label ", label, " ",
              Quoted(mark.name), " noenhanced at first ", mark.x,
              ", graph 0.98 offset 0.4,0 textcolor rgb '", kInk, "'\n");
  }
  for (size_t i = 0; i < plot.series.size(); ++i) AppendData(&script, i, plot.series[i]);
  std::string drawn;
  const auto draw = [&](const std::string& what) {
    StrAppend(&drawn, drawn.empty() ? "plot " : ", ", what);
  };
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    const char* const colour = kColours[i % kSeriesCountMax];
    const int shape = kShapes[i % kSeriesCountMax];
    if (HasBars(series)) {
      // Not yerrorbars: that puts a white disc under each point.
      draw(StrCat("$data", i, " using 1:3:(0):($4-$3) with vectors nohead lc rgb '", colour,
                  "' lw 0.8 notitle"));
    }
    draw(StrCat("$data", i, " using 1:2 with ", StyleName(series.style), " lc rgb '", colour,
                "' pt ", shape, " ps 0.6 title ", Quoted(series.name)));
  }
  for (size_t i = 0; i < plot.levels.size(); ++i) {
    const Level& level = plot.levels[i];
    draw(StrCat(level.y, " with lines dt ", kLevelDashes[i % std::size(kLevelDashes)], " lc rgb '",
                kInk, "' title ", Quoted(level.name)));
  }
  StrAppend(&script, drawn, "\n");
  return script;
}

neptune::StatusOr<std::string> RenderSvg(const Plot& plot) {
  bool empty = plot.levels.empty();
  for (const Series& series : plot.series) empty = empty && series.dots.empty();
  if (empty) return neptune::InvalidArgument("plot ", plot.name, " has no data");
  const std::string script = GnuplotScript(plot);
  const neptune::StatusOr<tools::ChildResult> child =
      tools::RunChild({"gnuplot"}, {.input = script}, tools::MonotonicNanoseconds);
  if (!child.ok()) return child.status();
  if (child->exit_status != 0 || child->output.find("</svg>") == std::string::npos) {
    return neptune::Internal("gnuplot failed to draw ", plot.name, ": ", child->error_output);
  }
  return WithStyleSheet(child->output);
}

std::string ImageTag(const std::string& svg, const std::string& alternative_text) {
  return StrCat("<img alt=\"", EscapeHtml(alternative_text), "\" src=\"data:image/svg+xml;base64,",
                Base64(svg), "\">");
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace search::plot
