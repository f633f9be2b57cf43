#include "tools/lab/engine/record.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/corpus/child_process.h"
#include "tools/lab/engine/section.h"
#include "tools/plot/plot.h"
#include "tools/terminal/progress.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StrAppend;
using neptune::StrCat;
using Json = nlohmann::ordered_json;

Json ToJson(const Estimate& estimate) {
  return {{"middle", estimate.middle}, {"low", estimate.low},
          {"high", estimate.high},     {"count", estimate.count},
          {"exact", estimate.exact},   {"too_few", !estimate.has_interval()}};
}

Json ToJson(const Row& row, bool counts) {
  Json json = {{"what", row.what}, {"paper", row.paper}, {"ours", row.ours}, {"line", row.line}};
  if (row.has_line()) {
    json["holds"] = row.holds();
    json["verdict"] = VerdictName(row.decision.verdict);
    json["counts"] = counts;
  }
  if (row.has_line() && std::isfinite(row.decision.more_runs) && row.decision.more_runs > 0) {
    json["more_runs"] = row.decision.more_runs;
  }
  if (row.estimate) json["interval_95"] = ToJson(*row.estimate);
  if (counts && row.missed()) json["short_of_line"] = row.short_of_line;
  return json;
}

Json PointsJson(const Results& results) {
  Json points = Json::array();
  for (const Point& point : results.points()) {
    Json parameters = Json::object();
    for (const auto& [name, value] : point.values()) parameters[name] = value;
    Json metrics = Json::object();
    for (const auto& [metric, value] : results.Of(point).front()) {
      metrics[metric] = ToJson(results.Mean(point, metric));
    }
    points.push_back({{"parameters", parameters}, {"metrics", metrics}});
  }
  return points;
}

std::string ResultJson(const Experiment& experiment, const RunFacts& facts, const Results& results,
                       const Judgement& judgement) {
  Json rows = Json::array();
  for (const Row& row : judgement.rows()) rows.push_back(ToJson(row, judgement.Counts(row)));
  const Json json = {
      {"experiment", experiment.name},
      {"title", experiment.title},
      {"source", experiment.source},
      {"holds", judgement.verdict() == Verdict::kHolds},
      {"verdict", VerdictName(judgement.verdict())},
      {"revision", facts.revision},
      {"configuration",
       {{"world", WorldName(facts.world)},
        {"length", LengthName(facts.length)},
        {"seed_count", facts.seed_count},
        {"look_count", facts.look_count},
        {"first_seed", facts.first_seed},
        {"setup", experiment.setup}}},
      {"took_s", facts.took_s},
      {"rows", rows},
      {"notes", judgement.notes()},
      {"points", PointsJson(results)},
  };
  return json.dump(1) + "\n";
}

// Columns have the width of their widest cell in code points.
size_t Width(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += (c & 0xC0) != 0x80;
  return width;
}

std::string VerdictWord(const Judgement& judgement, const Row& row) {
  if (!row.has_line()) return "";
  if (!judgement.Counts(row)) return row.holds() ? "(yes)" : row.missed() ? "(no)" : "(open)";
  if (row.missed()) return "SHORT OF LINE";
  if (row.holds()) return judgement.length() == Length::kSmoke ? "shape only" : "yes";
  return StrCat("NOT DECIDED: ", MoreRunsText(row.decision));
}

}  // namespace

std::string TableText(const Experiment& experiment, const Judgement& judgement) {
  std::vector<std::vector<std::string>> table = {{"", "paper", "ours", "line", "holds"}};
  for (const Row& row : judgement.rows()) {
    table.push_back({row.what, row.paper, row.ours, row.line, VerdictWord(judgement, row)});
  }
  std::vector<size_t> widths(table[0].size());
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text = StrCat(experiment.name, ": ", experiment.title, "\n\n");
  for (const auto& row : table) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - Width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    StrAppend(&text, line, "\n");
  }
  for (const std::string& note : judgement.notes()) StrAppend(&text, "\n", note, "\n");
  for (const Row& row : judgement.rows()) {
    if (judgement.Counts(row) && row.missed() && !row.short_of_line.empty()) {
      StrAppend(&text, "\nshort of line: ", row.what, ": ", row.short_of_line, "\n");
    }
  }
  return text;
}

neptune::Status WriteRecord(const std::string& folder, const Experiment& experiment,
                            const RunFacts& facts, const Results& results,
                            const Judgement& judgement) {
  Status first_error;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    const Status status = neptune::WriteFileAtomically(StrCat(folder, "/", name), bytes);
    if (first_error.ok()) first_error = status;
  };
  write("result.json", ResultJson(experiment, facts, results, judgement));
  std::vector<std::string> figures;
  for (const plot::Plot& plot : judgement.plots()) {
    const auto svg = plot::RenderSvg(plot);
    if (svg.ok()) write(plot.name + ".svg", *svg);
    figures.push_back(
        svg.ok() ? plot::ImageTag(*svg, plot.title)
                 : StrCat("<p class=\"note\">The plot &ldquo;", plot::EscapeHtml(plot.title),
                          "&rdquo; could not be drawn: ",
                          plot::EscapeHtml(neptune::ToStd(svg.status().message())), "</p>"));
  }
  write("section.html", SectionHtml(experiment, facts, judgement, figures));
  return first_error;
}

std::string RevisionOf(const std::string& folder) {
  const auto child = tools::RunChild({"git", "describe", "--always", "--dirty", "--abbrev=12"},
                                     {.folder = folder}, tools::MonotonicNanoseconds);
  if (!child.ok() || child->exit_status != 0) return "unknown";
  std::string revision = child->output;
  revision.erase(revision.find_last_not_of(" \n") + 1);
  return revision;
}

}  // namespace search::lab
