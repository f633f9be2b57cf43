#include <algorithm>
#include <cmath>
#include <cstdio>

#include "neptune/base/strings.h"
#include "tools/plot/plot.h"
#include "tools/replay/report.h"
#include "tools/terminal/progress.h"

namespace search::tools {
namespace {

using neptune::StatusOr;
using neptune::StrAppend;
using plot::EscapeHtml;
using plot::Plot;

constexpr double kNsPerMs = 1e6;
// Maximum number of points of a plot over time; of longer runs the busiest second of each interval
// is drawn.
constexpr size_t kDotCountMax = 600;

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--text:#1d1d1f;--soft:#5b5b62;--page:#fff;--line:#d9d9de;--bad:#b3261e;--good:#1b6e3c}
@media(prefers-color-scheme:dark){:root{--text:#ececf0;--soft:#a5a5ad;--page:#17171a;--line:#3a3a40;--bad:#ff8a80;--good:#7fd8a0}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
p.facts{color:var(--soft);margin:.2rem 0}.valid{color:var(--good);font-weight:600}.invalid{color:var(--bad);font-weight:600}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.93rem}
th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}
th{font-weight:600;color:var(--soft)}img{max-width:100%;height:auto;display:block;margin:.5rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.93rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
)";

std::string Number(const char* format, double value) {
  char text[96];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

void AppendRow(const std::vector<std::string>& cells, const char* tag, std::string* html) {
  *html += "<tr>";
  for (const std::string& cell : cells)
    StrAppend(html, "<", tag, ">", EscapeHtml(cell), "</", tag, ">");
  *html += "</tr>\n";
}

std::vector<std::string> LatencyCells(const std::string& name,
                                      const neptune::Histogram& histogram) {
  std::vector<std::string> cells = {name, WithThousands(histogram.count())};
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    cells.push_back(Number("%.2f", histogram.Percentile(share) / kNsPerMs));
  }
  cells.push_back(Number("%.2f", histogram.max() / kNsPerMs));
  return cells;
}

std::string LatencyTable(const RunSummary& summary) {
  std::string html = "<div class=\"wide\"><table>\n";
  AppendRow({"ms", "requests", "p50", "p90", "p99", "p99.9", "max"}, "th", &html);
  AppendRow(LatencyCells("all", summary.all.latency), "td", &html);
  for (const auto& [name, c] : summary.classes)
    AppendRow(LatencyCells(name, c.latency), "td", &html);
  AppendRow(LatencyCells("service time of answers", summary.all.service), "td", &html);
  AppendRow(LatencyCells("lateness of the generator", summary.lateness), "td", &html);
  return html + "</table></div>\n";
}

std::vector<std::string> QualityCells(const RunSummary& run, const std::string& name,
                                      const ClassSummary& c) {
  const double requests = static_cast<double>(c.request_count());
  const double answered = static_cast<double>(c.answered_count());
  return {name,
          Number("%.1f", run.Rate(requests)),
          Number("%.1f", run.Rate(answered)),
          Number("%.1f", run.Rate(c.quality_in_time_sum)),
          Number("%.3f", 100 * c.LossShare()),
          Number("%.2f", c.LossPercent()),
          Number("%.4f", c.Coverage()),
          WithThousands(c.partial_count),
          Number("%.1f", 100 * c.CacheHitShare()),
          Number("%.2f", 100 * c.TerminatedShare())};
}

std::string QualityTable(const RunSummary& run) {
  std::string html = "<div class=\"wide\"><table>\n";
  AppendRow({"", "offered /s", "answered /s", "quality-aware /s", "lost %", "yield lost %",
             "coverage", "partial", "cache hits %", "cut short %"},
            "th", &html);
  AppendRow(QualityCells(run, "all", run.all), "td", &html);
  for (const auto& [name, c] : run.classes) AppendRow(QualityCells(run, name, c), "td", &html);
  return html + "</table></div>\n";
}

std::string OutcomeText(const ClassSummary& all) {
  std::string text;
  for (int i = 1; i < kOutcomeCount; ++i) {
    const uint64_t count = all.outcomes[static_cast<size_t>(i)];
    if (count == 0) continue;
    StrAppend(&text, text.empty() ? "Lost: " : ", ", WithThousands(count), " ",
              OutcomeName(static_cast<Outcome>(i)));
  }
  return text;
}

// Latency over the share of slower requests, the tail stretched.
plot::Series PercentileSeries(const std::string& name, const neptune::Histogram& histogram) {
  plot::Series series{.name = name, .style = plot::Series::Style::kLines};
  const double count = static_cast<double>(histogram.count());
  for (double slower = 1; slower * count >= 1; slower /= std::pow(10, 0.1)) {
    series.dots.push_back({1 / slower, histogram.Percentile(1 - slower) / kNsPerMs});
  }
  return series;
}

Plot PercentilePlot(const RunSummary& run) {
  Plot plot{.name = "percentiles",
            .title = "Latency exceeded by one request in N",
            .x = {.label = "N: 100 is the 99th percentile", .logarithmic = true},
            .y = {.label = "ms", .logarithmic = true}};
  plot.series.push_back(PercentileSeries("all", run.all.latency));
  for (const auto& [name, c] : run.classes)
    plot.series.push_back(PercentileSeries(name, c.latency));
  return plot;
}

// One value a second; of several that share a dot the largest.
template <typename Value>
plot::Series OverTime(const std::string& name, const RunSummary& run, Value value) {
  plot::Series series{.name = name, .style = plot::Series::Style::kLines};
  const size_t stride = (run.seconds.size() + kDotCountMax - 1) / kDotCountMax;
  for (size_t i = 0; i < run.seconds.size(); i += stride) {
    double largest = -1;
    for (size_t j = i; j < std::min(i + stride, run.seconds.size()); ++j) {
      if (run.seconds[j].request_count > 0)
        largest = std::max<double>(largest, value(run.seconds[j]));
    }
    if (largest >= 0) series.dots.push_back({static_cast<double>(i), largest});
  }
  return series;
}

Plot TimePlot(const RecordedRun& run, const char* name, const char* title, const char* unit) {
  Plot plot{
      .name = name, .title = title, .x = {.label = "seconds", .low = 0}, .y = {.label = unit}};
  if (run.setup.warmup_s > 0) plot.marks.push_back({"steady", run.setup.warmup_s});
  for (const RunEvent& event : run.setup.events) plot.marks.push_back({event.label, event.at_s});
  return plot;
}

Plot LatencyPlot(const RecordedRun& run, const RunSummary& summary) {
  Plot plot = TimePlot(run, "latency", "Latency by second", "ms");
  plot.y.logarithmic = true;
  const auto positive = [](double ms) { return std::max(ms, 1e-3); };
  plot.series = {
      OverTime("p50", summary, [&](const SecondSummary& s) { return positive(s.p50_ms); }),
      OverTime("p99", summary, [&](const SecondSummary& s) { return positive(s.p99_ms); }),
      OverTime("max", summary, [&](const SecondSummary& s) { return positive(s.max_ms); })};
  return plot;
}

Plot RatePlot(const RecordedRun& run, const RunSummary& summary) {
  constexpr double kRoomForMarks = 1.15;
  Plot plot = TimePlot(run, "rate", "Requests a second", "a second");
  uint64_t highest = 1;
  for (const SecondSummary& s : summary.seconds) highest = std::max(highest, s.request_count);
  plot.y.low = 0;
  plot.y.high = kRoomForMarks * static_cast<double>(highest);
  plot.series = {
      OverTime("intended", summary, [](const SecondSummary& s) { return s.request_count; }),
      OverTime("answered", summary, [](const SecondSummary& s) { return s.answered_count; }),
      OverTime("lost", summary, [](const SecondSummary& s) { return s.lost_count; })};
  return plot;
}

Plot QualityPlot(const RecordedRun& run, const RunSummary& summary) {
  Plot plot = TimePlot(run, "quality", "Quality of answers and share from the cache", "share");
  plot.y.low = 0;
  plot.y.high = 1.15;
  const auto of_answers = [](double part, const SecondSummary& s) {
    return s.answered_count == 0 ? 0 : part / static_cast<double>(s.answered_count);
  };
  plot.series = {OverTime("coverage", summary,
                          [&](const SecondSummary& s) { return of_answers(s.quality_sum, s); }),
                 OverTime("cache hits", summary, [&](const SecondSummary& s) {
                   return of_answers(static_cast<double>(s.cache_hit_count), s);
                 })};
  return plot;
}

Plot LatenessPlot(const RecordedRun& run, const RunSummary& summary) {
  Plot plot = TimePlot(run, "lateness", "Lateness of the generator, worst of each second", "ms");
  plot.y.low = 0;
  plot.series = {
      OverTime("max", summary, [](const SecondSummary& s) { return s.lateness_max_ms; })};
  plot.levels.push_back({"bound of p99", run.setup.lateness_p99_ms_max});
  return plot;
}

std::string SetupList(const RunSetup& setup) {
  std::string html = "<dl>\n";
  const auto add = [&html](std::string_view name, const std::string& value) {
    StrAppend(&html, "<dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value), "</dd>\n");
  };
  add("target", setup.target);
  add("trace", neptune::StrCat(setup.trace, " (XXH3 ", setup.trace_xxh3, "), speed ",
                               Number("%.6g", setup.speed)));
  add("plan", neptune::StrCat(WithThousands(setup.planned_count), " requests in ",
                              Number("%.1f", setup.duration_s), " s, of them ",
                              Number("%.1f", setup.warmup_s), " s to warm up"));
  add("timeout", Number("%.3g s; lost requests count with this latency", setup.timeout_s));
  add("yield", neptune::StrCat(YieldFormName(setup.yield.form), ", deadline ",
                               Number("%.3g s", setup.yield.deadline_s)));
  add("query cache", setup.use_cache ? "used" : "bypassed");
  for (const RunEvent& event : setup.events) {
    add(Number("at %.3g s", event.at_s),
        event.label + (event.command.empty() ? "" : ": ") + event.command);
  }
  add("machine",
      neptune::StrCat(setup.processor, ", ", setup.processor_count, " processors, ", setup.kernel));
  add("revision", setup.revision);
  add("started", setup.started);
  return html + "</dl>\n";
}

}  // namespace

StatusOr<std::string> ReportHtml(const RecordedRun& run, const RunSummary& summary) {
  const std::string name = run.setup.label.empty() ? "Replay" : run.setup.label;
  std::string html = neptune::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>",
      EscapeHtml(name), "</title><style>", kStyle, "</style></head><body>\n<h1>", EscapeHtml(name),
      "</h1>\n");
  StrAppend(
      &html, "<p class=\"facts\">", EscapeHtml(run.setup.target), ", ",
      EscapeHtml(run.setup.started), "</p>\n<p class=\"",
      summary.valid() ? "valid\">Valid: the generator kept to its plan." : "invalid\">Invalid: ",
      EscapeHtml(summary.invalid), "</p>\n");
  StrAppend(&html, "<h2>Latency from the intended time</h2>\n", LatencyTable(summary),
            "<h2>Yield and quality</h2>\n", QualityTable(summary));
  const std::string lost = OutcomeText(summary.all);
  if (!lost.empty()) StrAppend(&html, "<p class=\"facts\">", EscapeHtml(lost), "</p>\n");
  html += "<h2>Plots</h2>\n";
  for (const Plot& plot :
       {PercentilePlot(summary), LatencyPlot(run, summary), RatePlot(run, summary),
        QualityPlot(run, summary), LatenessPlot(run, summary)}) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string svg, plot::RenderSvg(plot));
    StrAppend(&html, plot::ImageTag(svg, plot.title), "\n");
  }
  StrAppend(&html, "<h2>Set-up</h2>\n", SetupList(run.setup));
  return html + "</body></html>\n";
}

}  // namespace search::tools
