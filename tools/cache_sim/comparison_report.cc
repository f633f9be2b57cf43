#include "tools/cache_sim/comparison_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "neptune/base/strings.h"
#include "tools/plot/plot.h"
#include "tools/terminal/progress.h"

namespace search::tools {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

struct Measure {
  const char* name;
  const char* title;
  double (CacheOutcome::*value)() const;
};
constexpr Measure kMeasures[] = {
    {"hits", "Requests answered by the cache", &CacheOutcome::hit_ratio},
    {"bytes", "Bytes answered by the cache", &CacheOutcome::byte_hit_ratio},
    {"time", "Time to make answers that the cache saves", &CacheOutcome::time_saved}};

std::span<const Measure> MeasuresOf(const CacheComparison& comparison) {
  return std::span(kMeasures).first(comparison.has_costs ? 3 : 2);
}

std::string Padded(std::string_view text, size_t width) {
  std::string padded(text);
  padded.resize(std::max(width, text.size()), ' ');
  return padded;
}

std::string Percent(double ratio) {
  char text[16];
  std::snprintf(text, sizeof text, "%8.2f", 100 * ratio);
  return text;
}

constexpr size_t kNameWidth = 22;

void AppendTable(const CacheComparison& comparison, const Measure& measure, std::string* out) {
  StrAppend(out, "\n", Padded(StrCat(measure.title, ", %"), kNameWidth), "\n",
            Padded("  size", kNameWidth));
  for (const std::string& size : comparison.size_names) {
    StrAppend(out, std::string(8 - std::min<size_t>(8, size.size()), ' '), size);
  }
  StrAppend(out, "\n");
  for (const ComparedPolicy& row : comparison.rows) {
    StrAppend(out, Padded(StrCat("  ", row.name), kNameWidth));
    for (const CacheOutcome& outcome : row.outcomes) {
      StrAppend(out, Percent((outcome.*measure.value)()));
    }
    StrAppend(out, "\n");
  }
}

std::string DescribeTraceOf(const CacheComparison& comparison) {
  return StrCat(WithThousands(comparison.request_count), " requests for ",
                WithThousands(comparison.key_count), " values that take ",
                WithThousands(comparison.distinct_size), " bytes, in ",
                WithThousands(static_cast<uint64_t>(comparison.duration_s)), " s");
}

nlohmann::json RowJson(const CacheComparison& comparison, const ComparedPolicy& row) {
  nlohmann::json points = nlohmann::json::array();
  for (size_t i = 0; i < row.outcomes.size(); ++i) {
    const CacheOutcome& outcome = row.outcomes[i];
    nlohmann::json point = {
        {"size", comparison.sizes[i]},      {"requests", outcome.request_count},
        {"hits", outcome.hit_count},        {"bytes", outcome.size},
        {"hit_bytes", outcome.hit_size},    {"evictions", outcome.eviction_count},
        {"refused", outcome.refused_count}, {"expirations", outcome.expiration_count}};
    if (comparison.has_costs) {
      point["cost_us"] = outcome.cost_us;
      point["hit_cost_us"] = outcome.hit_cost_us;
    }
    points.push_back(std::move(point));
  }
  return {{"name", row.name}, {"points", std::move(points)}};
}

plot::Plot PlotOf(const CacheComparison& comparison, size_t number, const Measure& measure) {
  plot::Plot drawn{.name = StrCat("trace_", number, "_", measure.name),
                   .title = StrCat(measure.title, ": ", comparison.trace_name),
                   .x = {.label = "cache size, bytes", .logarithmic = true},
                   .y = {.label = "%", .low = 0}};
  for (const ComparedPolicy& row : comparison.rows) {
    if (row.name == kUnlimitedRow) {
      drawn.levels.push_back({row.name, 100 * (row.outcomes.front().*measure.value)()});
      continue;
    }
    plot::Series series{.name = row.name};
    if (row.name == kBeladyRow || row.name == kBoundRow) series.style = plot::Series::Style::kLines;
    for (size_t i = 0; i < row.outcomes.size(); ++i) {
      series.dots.push_back({.x = static_cast<double>(comparison.sizes[i]),
                             .y = 100 * (row.outcomes[i].*measure.value)()});
    }
    drawn.series.push_back(std::move(series));
  }
  return drawn;
}

}  // namespace

std::string DescribeComparison(const CacheComparison& comparison) {
  std::string text = StrCat(comparison.trace_name, ": ", DescribeTraceOf(comparison), "\n");
  for (const Measure& measure : MeasuresOf(comparison)) AppendTable(comparison, measure, &text);
  return text;
}

std::string ComparisonJson(const std::vector<CacheComparison>& comparisons) {
  nlohmann::json traces = nlohmann::json::array();
  for (const CacheComparison& comparison : comparisons) {
    nlohmann::json rows = nlohmann::json::array();
    for (const ComparedPolicy& row : comparison.rows) rows.push_back(RowJson(comparison, row));
    traces.push_back({{"name", comparison.trace_name},
                      {"requests", comparison.request_count},
                      {"values", comparison.key_count},
                      {"distinct_bytes", comparison.distinct_size},
                      {"duration_s", comparison.duration_s},
                      {"policies", std::move(rows)}});
  }
  return nlohmann::json{{"version", 1}, {"traces", std::move(traces)}}.dump(1) + "\n";
}

neptune::StatusOr<std::string> RenderComparisons(const std::vector<CacheComparison>& comparisons) {
  std::string html =
      "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Eviction "
      "policies</title>"
      "<style>:root{color-scheme:light dark}body{font-family:sans-serif;max-width:60rem;"
      "margin:1rem auto}img{max-width:100%}</style></head><body><h1>Eviction policies</h1>";
  for (size_t number = 0; number < comparisons.size(); ++number) {
    const CacheComparison& comparison = comparisons[number];
    StrAppend(&html, "<h2>", plot::EscapeHtml(comparison.trace_name), "</h2><p>",
              DescribeTraceOf(comparison), ".</p>");
    for (const Measure& measure : MeasuresOf(comparison)) {
      const plot::Plot drawn = PlotOf(comparison, number, measure);
      NEPTUNE_ASSIGN_OR_RETURN(const std::string svg, plot::RenderSvg(drawn));
      html += plot::ImageTag(svg, drawn.title);
    }
    StrAppend(&html, "<pre>", plot::EscapeHtml(DescribeComparison(comparison)), "</pre>");
  }
  return html + "</body></html>\n";
}

}  // namespace search::tools
