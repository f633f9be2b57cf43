#include "tools/lab/engine/verdict.h"

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

// More is not worth a number.
constexpr double kShownRunsMax = 10'000;

Decision ShapeOf(const Estimate& ours, const Region& region) {
  const bool wide = ours.has_interval() && std::isfinite(ours.low) && std::isfinite(ours.high);
  const double low = wide ? ours.low : ours.middle;
  const double high = wide ? ours.high : ours.middle;
  return {high >= region.low && low <= region.high ? Verdict::kHolds : Verdict::kMissed};
}

// An interval over n runs is about 1/sqrt(n) wide, so an end that reaches from the middle over the
// line must shrink by the square of the ratio of the two distances.
double MoreRunsUntil(const Estimate& ours, double line, bool above) {
  const double end = above ? ours.high : ours.low;
  const bool crosses = above ? end > line : end < line;
  if (!crosses) return 0;
  // On the wrong side, the other end must leave the region instead.
  const double reach = ours.middle - (ours.middle > line ? ours.low : ours.high);
  const double distance = ours.middle - line;
  if (distance == 0) return std::numeric_limits<double>::infinity();
  const double runs = std::max(ours.count, 1);
  if (!std::isfinite(reach)) return runs;
  return std::max(1.0, std::ceil(runs * (reach * reach / (distance * distance) - 1)));
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kMissed:
      return "missed";
    case Verdict::kNotDecided:
      break;
  }
  return "not decided";
}

Decision Decide(const Estimate& ours, const Region& region, Length length) {
  if (std::isnan(ours.middle)) return {Verdict::kMissed};
  if (length == Length::kSmoke) return ShapeOf(ours, region);
  const double runs_missing = std::max(1, kRunCountMin - ours.count);
  if (!ours.has_interval() || std::isnan(ours.low) || std::isnan(ours.high)) {
    return {Verdict::kNotDecided, runs_missing};
  }
  if (ours.high < region.low || ours.low > region.high) return {Verdict::kMissed};
  if (ours.low >= region.low && ours.high <= region.high) {
    const bool is_formula = ours.exact && ours.count == 0;
    if (is_formula || ours.count >= kRunCountMin) return {Verdict::kHolds};
    return {Verdict::kNotDecided, runs_missing};
  }
  return {Verdict::kNotDecided,
          std::max(MoreRunsUntil(ours, region.low, false), MoreRunsUntil(ours, region.high, true))};
}

Decision Decide(bool holds, int run_count, Length length) {
  if (!holds) return {Verdict::kMissed};
  if (length == Length::kSmoke || run_count >= kRunCountMin) return {Verdict::kHolds};
  return {Verdict::kNotDecided, static_cast<double>(kRunCountMin - run_count)};
}

std::string MoreRunsText(const Decision& decision) {
  if (decision.verdict != Verdict::kNotDecided) return "";
  if (!(decision.more_runs <= kShownRunsMax)) return "on the line: more runs would hardly decide";
  const auto count = static_cast<int>(decision.more_runs);
  return neptune::StrCat("about ", count, count == 1 ? " more run" : " more runs", " would decide");
}

}  // namespace search::lab
