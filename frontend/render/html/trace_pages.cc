#include "frontend/render/html/trace_pages.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/table.h"
#include "frontend/trace/explanation.h"
#include "frontend/trace/trace_spans.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {
namespace {

using neptune::Duration;
using neptune::StrCat;

// Width of the bar's coordinate system, which is scaled to the column.
constexpr double kBarWidth = 1000;
constexpr double kBarMin = 3;
constexpr size_t kRowsMax = 1000;

std::string Millis(Duration time) { return absl::StrFormat("%.2f", neptune::ToMillis(time)); }

std::string PathOf(const SearchTrace& trace) { return StrCat("/tracez?id=", trace.id); }

std::string Verdict(const SearchTrace& trace) {
  if (!trace.status.ok()) return absl::StatusCodeToString(trace.status.code());
  return trace.coverage.complete() ? "complete" : "partial";
}

std::string_view ClassOf(SpanPart part) {
  constexpr std::string_view kClasses[] = {"span-whole", "span-queue", "span-work", "span-wait",
                                           "span-merge"};
  return kClasses[static_cast<size_t>(part)];
}

std::vector<int> DepthsOf(const std::vector<TraceSpan>& spans) {
  std::vector<int> depths;
  for (const TraceSpan& span : spans) {
    depths.push_back(span.parent < 0 ? 0 : depths[static_cast<size_t>(span.parent)] + 1);
  }
  return depths;
}

// Bar that shows when the span ran within the search; decorative, since the row has the numbers.
void WriteBar(MarkupWriter& html, const TraceSpan& span, Duration whole) {
  const Element cell(html, "td", {{"class", "timeline"}});
  if (whole <= Duration(0)) return;
  const auto x = [&](Duration at) {
    const double share = static_cast<double>(at.count()) / static_cast<double>(whole.count());
    return std::clamp(share, 0.0, 1.0) * kBarWidth;
  };
  const double begin = std::min(x(span.begin), kBarWidth - kBarMin);
  const double width = std::max(kBarMin, x(span.begin + span.duration) - begin);
  const Element picture(html, "svg",
                        {{"aria-hidden", "true"},
                         {"viewBox", StrCat("0 0 ", static_cast<int>(kBarWidth), " 10")},
                         {"preserveAspectRatio", "none"}});
  const Element bar(html, "rect",
                    {{"class", ClassOf(span.part)},
                     {"x", absl::StrFormat("%.1f", begin)},
                     {"y", 0},
                     {"width", absl::StrFormat("%.1f", width)},
                     {"height", 10}});
}

void WriteSpans(MarkupWriter& html, const std::vector<TraceSpan>& spans) {
  const std::vector<int> depths = DepthsOf(spans);
  const Duration whole = spans.front().duration;
  WriteTable(html, "Spans", {"Span", "Node", "Part", "Start, ms", "Took, ms", "When"}, [&] {
    for (size_t i = 0; i < std::min(spans.size(), kRowsMax); ++i) {
      const TraceSpan& span = spans[i];
      const Element row(html, "tr");
      std::string name;
      for (int d = 0; d < depths[i]; ++d) name += "· ";
      html.TextElement("th", name + span.name, {{"scope", "row"}});
      html.TextElement("td", span.node.empty() ? "frontend" : span.node);
      html.TextElement("td", Name(span.part), {{"class", ClassOf(span.part)}});
      html.TextElement("td", Millis(span.begin), {{"class", "number"}});
      html.TextElement("td", Millis(span.duration), {{"class", "number"}});
      WriteBar(html, span, whole);
    }
  });
  if (spans.size() > kRowsMax) {
    html.TextElement("p", StrCat(spans.size() - kRowsMax, " more spans are in the JSON form."));
  }
}

void WriteExplanation(MarkupWriter& html, const SearchTrace& trace) {
  html.TextElement("h2", "Why");
  const Element list(html, "ul");
  for (const std::string& sentence : Explain(trace)) html.TextElement("li", sentence);
}

void WriteRow(MarkupWriter& html, const SearchTrace& trace) {
  const Element row(html, "tr");
  {
    const Element cell(html, "th", {{"scope", "row"}});
    html.TextElement("a", trace.id.substr(0, 8), {{"href", PathOf(trace)}});
  }
  html.TextElement("td", Utc(trace.ended_at), {{"class", "number"}});
  html.TextElement("td", Millis(trace.took), {{"class", "number"}});
  html.TextElement("td", Verdict(trace));
  html.TextElement("td", trace.service_class);
  html.TextElement("td", trace.query.empty() ? "–" : trace.query, {{"dir", "auto"}});
}

// A column of the picture is a distance from the frontend, a row is a server, parents first.
constexpr int kTreeColumn = 190;
constexpr int kTreeRow = 26;

// Converts pixels at the default text size to rem, so that pictures scale with the text.
std::string Rem(int pixels) { return StrCat(absl::StrFormat("%.3f", pixels / 16.0), "rem"); }

void WriteTreeNode(MarkupWriter& html, int x, int y, std::string_view label, bool answered) {
  const Element node(html, "g", {{"class", answered ? "tree-node" : "tree-node pruned"}});
  { const Element circle(html, "circle", {{"cx", x + 6}, {"cy", y + 13}, {"r", 5}}); }
  html.TextElement("text", label, {{"x", x + 18}, {"y", y + 18}});
}

void WriteTree(MarkupWriter& html, const ServiceCoverage& tier) {
  std::vector<int> depths;
  for (size_t i = 0; i < tier.tree.size(); ++i) {
    const int parent = tier.tree[i].parent;
    const bool known = parent >= 0 && static_cast<size_t>(parent) < i;
    depths.push_back(known ? depths[static_cast<size_t>(parent)] + 1 : 1);
  }
  const int depth = *std::max_element(depths.begin(), depths.end());
  const int width = (depth + 1) * kTreeColumn;
  const int height = static_cast<int>(tier.tree.size() + 1) * kTreeRow;
  html.TextElement("h3", StrCat(tier.service, ", tree ", tier.tree_scheme));
  const Element scroll(html, "div",
                       {{"class", "table-scroll"},
                        {"role", "region"},
                        {"aria-label", StrCat("The tree of ", tier.service)},
                        {"tabindex", "0"}});
  const Element picture(
      html, "svg",
      {{"class", "tree"},
       {"role", "img"},
       {"aria-label", "Reduction tree of the answers; the table of spans has the same data"},
       {"width", Rem(width)},
       {"height", Rem(height)},
       {"viewBox", StrCat("0 0 ", width, " ", height)}});
  WriteTreeNode(html, 0, 0, "frontend", true);
  for (size_t i = 0; i < tier.tree.size(); ++i) {
    const TreeServer& server = tier.tree[i];
    const int x = depths[i] * kTreeColumn;
    const int y = static_cast<int>(i + 1) * kTreeRow;
    const int up_x = (depths[i] - 1) * kTreeColumn + 6;
    const int up_y = depths[i] == 1 ? 13 : (server.parent + 1) * kTreeRow + 13;
    {
      const Element edge(html, "path",
                         {{"d", StrCat("M", up_x, " ", up_y, "V", y + 13, "H", x + 6)}});
    }
    WriteTreeNode(html, x, y,
                  server.answered ? StrCat(server.node, ", ", Millis(server.replied), " ms")
                                  : StrCat(server.node, ", no answer"),
                  server.answered);
  }
}

void WriteTrees(MarkupWriter& html, const SearchTrace& trace) {
  for (const ServiceCoverage& tier : trace.coverage.tiers) {
    if (!tier.tree.empty()) WriteTree(html, tier);
  }
}

}  // namespace

std::string Utc(neptune::WallTime time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S", absl::FromUnixNanos(time.ns_since_1970),
                          absl::UTCTimeZone());
}

void WriteTraceTable(MarkupWriter& html, std::string_view caption,
                     const std::vector<TraceLog::Kept>& traces) {
  WriteTable(html, caption, {"Trace", "Ended, UTC", "Took, ms", "Answer", "Class", "Query"}, [&] {
    for (const TraceLog::Kept& trace : traces) WriteRow(html, *trace);
  });
}

std::string TracePage(const SearchTrace& trace, const Site& site) {
  const std::vector<TraceSpan> spans = SpansOf(trace);
  return RenderFrame(
      {.title = "Trace", .query = trace.query, .is_wide = true}, site, [&](MarkupWriter& html) {
        const Element text(html, "div", {{"class", "text"}});
        html.TextElement("h1", StrCat("One search: ", Millis(trace.took), " ms, ", Verdict(trace)));
        html.TextElement(
            "p", StrCat("Trace ", trace.id, ", ended ", Utc(trace.ended_at), " UTC",
                        trace.service_class.empty() ? "" : ", class ", trace.service_class, "."));
        WriteExplanation(html, trace);
        WriteTrees(html, trace);
        html.TextElement("h2", "When");
        WriteSpans(html, spans);
        const Element line(html, "p");
        html.TextElement("a", "View as JSON", {{"href", StrCat(PathOf(trace), "&format=json")}});
        html.Text(" · ");
        html.TextElement("a", "All kept searches", {{"href", "/tracez"}});
      });
}

std::string TraceListPage(const std::vector<TraceLog::Kind>& kinds, const Site& site) {
  return RenderFrame({.title = "Kept searches", .is_wide = true}, site, [&](MarkupWriter& html) {
    const Element text(html, "div", {{"class", "text"}});
    html.TextElement("h1", "Kept searches");
    html.TextElement("p", StrCat("The latest searches of each kind: at most ",
                                 TraceLog::kTracesOfKind, " are kept per kind, and at most ",
                                 TraceLog::kKeptInSecond, " are added per second."));
    for (const TraceLog::Kind& kind : kinds) {
      if (kind.latest.empty()) continue;
      html.TextElement("h2", StrCat(kind.name, " (", kind.seen_count, " seen)"));
      WriteTraceTable(html, kind.name, kind.latest);
    }
    const Element line(html, "p");
    html.TextElement("a", "View as JSON", {{"href", "/tracez?format=json"}});
  });
}

}  // namespace search::frontend::html
