#include "tools/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using lab::Estimate;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kSummaryFile[] = "summary.json";

StatusOr<ReadRun> ReadOne(const std::string& folder) {
  const std::string path = folder + "/" + kSummaryFile;
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, neptune::ReadFile(path, kSummarySizeMax));
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("setup") || !json.contains("valid")) {
    return InvalidArgument(path, " is not the summary of a run");
  }
  ReadRun run{.folder = folder, .valid = json["valid"] == true};
  NEPTUNE_ASSIGN_OR_RETURN(run.setup, ParseSetupJson(json["setup"].dump()));
  for (const Figure& figure : FiguresOf(run.setup.classes)) {
    const nlohmann::json::json_pointer pointer(figure.pointer);
    const bool there = json.contains(pointer) && json[pointer].is_number();
    run.values.push_back(there ? json[pointer].get<double>() : 0);
  }
  return run;
}

Status AppendRuns(const std::string& folder, std::vector<ReadRun>* runs) {
  std::error_code error;
  std::vector<std::string> folders;
  if (fs::exists(fs::path(folder) / kSummaryFile, error)) {
    folders.push_back(folder);
  } else {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (fs::exists(entry.path() / kSummaryFile)) folders.push_back(entry.path().string());
    }
  }
  if (folders.empty()) return InvalidArgument(folder, " holds no run (no ", kSummaryFile, ")");
  std::sort(folders.begin(), folders.end());
  for (const std::string& one : folders) {
    if (runs->size() == kRunCountMax) return InvalidArgument("more than ", kRunCountMax, " runs");
    NEPTUNE_ASSIGN_OR_RETURN(runs->emplace_back(), ReadOne(one));
  }
  return neptune::OkStatus();
}

std::vector<double> ValuesOf(const RunGroup& group, size_t figure) {
  std::vector<double> values;
  for (const ReadRun& run : group.runs) values.push_back(run.values[figure]);
  return values;
}

Verdict Judge(const Figure& figure, const Estimate& difference) {
  if (difference.count < 2) return Verdict::kOneRun;
  if (difference.low <= 0 && difference.high >= 0) return Verdict::kNoDifference;
  return (difference.middle < 0) == figure.smaller_is_better ? Verdict::kBetter : Verdict::kWorse;
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kNoDifference:
      return "no difference shown";
    case Verdict::kOneRun:
      return "one run: no interval";
  }
  return "";
}

// The difference in percent of the first group's mean, with its interval.
std::string DifferenceText(const Estimate& first, const Estimate& difference) {
  char text[96];
  if (first.middle == 0) {
    std::snprintf(text, sizeof(text), "%+.4g", difference.middle);
    return text;
  }
  const auto percent = [&](double value) { return 100 * value / std::abs(first.middle); };
  if (difference.count < 2) {
    std::snprintf(text, sizeof(text), "%+.1f %%", percent(difference.middle));
  } else {
    std::snprintf(text, sizeof(text), "%+.1f %% [%+.1f, %+.1f]", percent(difference.middle),
                  percent(difference.low), percent(difference.high));
  }
  return text;
}

// Pads to `width` characters; bytes that continue a UTF-8 character take no room.
std::string Padded(std::string text, size_t width) {
  const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const size_t characters =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), is_character));
  if (characters < width) text.append(width - characters, ' ');
  return text + " ";
}

Json EstimateJson(const Estimate& estimate) {
  Json json = {{"mean", estimate.middle}, {"runs", estimate.count}};
  if (estimate.count >= 2 && std::isfinite(estimate.high)) {
    json["low"] = estimate.low;
    json["high"] = estimate.high;
  }
  return json;
}

}  // namespace

std::vector<Figure> FiguresOf(const std::vector<std::string>& classes) {
  std::vector<Figure> figures = {{"latency mean ms", "/all/latency_ms/mean"},
                                 {"latency p50 ms", "/all/latency_ms/p50"},
                                 {"latency p90 ms", "/all/latency_ms/p90"},
                                 {"latency p99 ms", "/all/latency_ms/p99"},
                                 {"latency p99.9 ms", "/all/latency_ms/p99.9"},
                                 {"lost share", "/all/loss"},
                                 {"yield lost %", "/all/yield_loss_percent"},
                                 {"answers /s", "/all/goodput", false},
                                 {"quality-aware /s", "/all/quality_aware_throughput", false},
                                 {"coverage", "/all/coverage", false},
                                 {"cache hit share", "/all/cache_hit_share", false},
                                 {"cut short share", "/all/terminated_share"}};
  for (const std::string& name : classes) {
    figures.push_back({name + " p99 ms", "/classes/" + name + "/latency_ms/p99"});
  }
  return figures;
}

StatusOr<RunGroup> ReadGroup(const std::string& text) {
  const size_t equals = text.find('=');
  RunGroup group{.name = equals == text.npos ? "" : text.substr(0, equals)};
  for (const std::string& folder : SplitList(text.substr(equals == text.npos ? 0 : equals + 1))) {
    NEPTUNE_RETURN_IF_ERROR(AppendRuns(CallerPath(folder), &group.runs));
  }
  if (group.runs.empty()) return InvalidArgument("'", text, "' does not name a folder");
  if (group.name.empty()) group.name = group.runs.front().setup.label;
  if (group.name.empty()) {
    group.name = fs::path(group.runs.front().folder).lexically_normal().filename().string();
  }
  return group;
}

Status CheckComparable(const std::vector<RunGroup>& groups, const ComparisonOptions& options) {
  const ReadRun& first = groups.front().runs.front();
  for (const RunGroup& group : groups) {
    for (const ReadRun& run : group.runs) {
      if (!run.valid && !options.allow_invalid) {
        return InvalidArgument("the run in ", run.folder,
                               " is invalid; --allow_invalid compares it anyway");
      }
      std::string fields;
      for (const std::string& field : DifferingFields(first.setup, run.setup)) {
        if (options.may_differ.contains(field)) continue;
        neptune::StrAppend(&fields, fields.empty() ? "" : ",", field);
      }
      if (fields.empty()) continue;
      return InvalidArgument("the runs in ", first.folder, " and ", run.folder,
                             " have different set-ups (", fields,
                             "); they are not comparable unless --may_differ=", fields);
    }
  }
  return neptune::OkStatus();
}

std::vector<ComparisonRow> Compare(const std::vector<RunGroup>& groups) {
  const std::vector<Figure> figures = FiguresOf(groups.front().runs.front().setup.classes);
  std::vector<ComparisonRow> rows;
  for (size_t i = 0; i < figures.size(); ++i) {
    ComparisonRow row{.figure = figures[i]};
    const std::vector<double> first = ValuesOf(groups.front(), i);
    for (const RunGroup& group : groups) row.means.push_back(lab::MeanOf(ValuesOf(group, i)));
    for (size_t j = 1; j < groups.size(); ++j) {
      row.differences.push_back(lab::DifferenceOfMeans(first, ValuesOf(groups[j], i)));
      row.verdicts.push_back(Judge(row.figure, row.differences.back()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string DescribeComparison(const std::vector<RunGroup>& groups,
                               const std::vector<ComparisonRow>& rows) {
  constexpr size_t kNameWidth = 18;
  constexpr size_t kMeanWidth = 20;
  constexpr size_t kDifferenceWidth = 30;
  std::string out = Padded("", kNameWidth);
  for (size_t i = 0; i < groups.size(); ++i) {
    out += Padded(neptune::StrCat(groups[i].name, " (", groups[i].runs.size(), ")"), kMeanWidth);
    if (i > 0) out += Padded("difference [95 %]", kDifferenceWidth);
  }
  while (out.ends_with(' ')) out.pop_back();
  out += "\n";
  for (const ComparisonRow& row : rows) {
    out += Padded(row.figure.name, kNameWidth) + Padded(lab::ToText(row.means[0]), kMeanWidth);
    for (size_t i = 1; i < groups.size(); ++i) {
      out += Padded(lab::ToText(row.means[i]), kMeanWidth);
      out += Padded(DifferenceText(row.means[0], row.differences[i - 1]), kDifferenceWidth);
      neptune::StrAppend(&out, VerdictName(row.verdicts[i - 1]), " ");
    }
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  return out;
}

std::string ComparisonJson(const std::vector<RunGroup>& groups,
                           const std::vector<ComparisonRow>& rows) {
  Json figures = Json::object();
  for (const ComparisonRow& row : rows) {
    Json entry = Json::object();
    for (size_t i = 0; i < groups.size(); ++i) {
      Json& group = entry[groups[i].name] = EstimateJson(row.means[i]);
      if (i == 0) continue;
      group["difference"] = EstimateJson(row.differences[i - 1]);
      group["verdict"] = VerdictName(row.verdicts[i - 1]);
    }
    figures[row.figure.name] = std::move(entry);
  }
  return Json{{"figures", std::move(figures)}}.dump(1) + "\n";
}

}  // namespace search::tools
