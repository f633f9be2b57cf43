#include "tools/replay/goal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>

#include "neptune/base/strings.h"
#include "tools/terminal/command_line.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::StatusOr;

constexpr std::string_view kLatencies[] = {"p50", "p90", "p95", "p99", "p99.9", "mean", "max"};
constexpr std::string_view kShares[] = {"loss", "coverage", "yield"};

bool IsOneOf(std::string_view name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "200ms", "0.2s" or "200" in milliseconds; a share is a number from 0 to 1.
bool ParseBound(std::string_view text, bool is_latency, double* bound) {
  double unit = 1;
  if (is_latency && text.ends_with("ms")) {
    text.remove_suffix(2);
  } else if (is_latency && text.ends_with('s')) {
    text.remove_suffix(1);
    unit = 1000;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *bound);
  *bound *= unit;
  return !text.empty() && error == std::errc() && stop == end && *bound >= 0 &&
         (is_latency || *bound <= 1);
}

StatusOr<GoalPart> ParsePart(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == text.npos) return InvalidArgument("--goal: '", text, "' is not FIGURE:BOUND");
  GoalPart part{.figure = text.substr(0, colon)};
  const size_t dot = part.figure.find('.');
  if (dot != part.figure.npos && !IsOneOf(part.figure, kLatencies)) {
    part.service_class = part.figure.substr(0, dot);
    part.figure.erase(0, dot + 1);
  }
  if (!IsOneOf(part.figure, kLatencies) && !IsOneOf(part.figure, kShares)) {
    return InvalidArgument("--goal: '", part.figure,
                           "' is not one of p50 p90 p95 p99 p99.9 mean max loss coverage yield");
  }
  if (!ParseBound(std::string_view(text).substr(colon + 1), part.is_latency(), &part.bound)) {
    return InvalidArgument("--goal: the bound of '", text, "' is not ",
                           part.is_latency() ? "a time such as 200ms" : "a number from 0 to 1");
  }
  return part;
}

double LatencyOf(const ClassSummary& summary, const std::string& figure) {
  constexpr double kNsPerMs = 1e6;
  if (figure == "mean") return summary.latency.Mean() / kNsPerMs;
  double percent = 100;
  if (figure != "max") std::from_chars(figure.data() + 1, figure.data() + figure.size(), percent);
  return static_cast<double>(summary.latency.Percentile(percent / 100)) / kNsPerMs;
}

double FigureOf(const ClassSummary& summary, const GoalPart& part) {
  if (part.is_latency()) return LatencyOf(summary, part.figure);
  if (part.figure == "loss") return summary.LossShare();
  return part.figure == "coverage" ? summary.Coverage() : 1 - summary.LossPercent() / 100;
}

}  // namespace

bool GoalPart::is_latency() const { return IsOneOf(figure, kLatencies); }

std::string GoalPart::ToString() const {
  return service_class.empty() ? figure : service_class + "." + figure;
}

StatusOr<Goal> Goal::Parse(std::string_view text) {
  Goal goal;
  for (const std::string& part : SplitList(text)) {
    NEPTUNE_ASSIGN_OR_RETURN(goal.parts_.emplace_back(), ParsePart(part));
  }
  if (goal.parts_.empty()) {
    return InvalidArgument("--goal is missing, for instance p99:200ms,coverage:0.99");
  }
  return goal;
}

std::vector<GoalCheck> Goal::Check(const RunSummary& summary) const {
  std::vector<GoalCheck> checks;
  for (const GoalPart& part : parts_) {
    GoalCheck check{.part = part};
    const auto entry = summary.classes.find(part.service_class);
    const bool known = part.service_class.empty() || entry != summary.classes.end();
    const ClassSummary* const of =
        part.service_class.empty() ? &summary.all : (known ? &entry->second : nullptr);
    if (of != nullptr && of->request_count() > 0) {
      check.value = FigureOf(*of, part);
      check.met = part.at_least() ? check.value >= part.bound : check.value <= part.bound;
    }
    checks.push_back(check);
  }
  return checks;
}

bool AllMet(const std::vector<GoalCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const GoalCheck& check) { return check.met; });
}

std::string Describe(const std::vector<GoalCheck>& checks) {
  std::string out;
  for (const GoalCheck& check : checks) {
    char text[96];
    std::snprintf(text, sizeof(text),
                  check.part.is_latency() ? " %.4g ms of %.4g" : " %.4f of %.4g", check.value,
                  check.part.bound);
    neptune::StrAppend(&out, out.empty() ? "" : ", ", check.part.ToString(),
                       std::string_view(text));
  }
  return out;
}

}  // namespace search::tools
