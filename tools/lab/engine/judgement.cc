#include "tools/lab/engine/judgement.h"

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;

std::string WithUnit(std::string text, const std::string& unit) {
  return unit.empty() ? text : StrCat(text, " ", unit);
}

}  // namespace

Row& Judgement::Add(Row row) {
  rows_.push_back(std::move(row));
  return rows_.back();
}

Row& Judgement::AddFigure(Row row, const Estimate& ours, const Region& region,
                          const std::string& unit) {
  row.ours = WithUnit(ToText(ours), unit);
  row.line = WithUnit(row.line, unit);
  row.estimate = ours;
  row.decision = Decide(ours, region, length_);
  return Add(std::move(row));
}

Row& Judgement::AtMost(std::string what, std::string paper, const Estimate& ours, double line,
                       const std::string& unit) {
  return AddFigure(
      {.what = std::move(what), .paper = std::move(paper), .line = StrCat("≤ ", ShortText(line))},
      ours, {.high = line}, unit);
}

Row& Judgement::AtLeast(std::string what, std::string paper, const Estimate& ours, double line,
                        const std::string& unit) {
  return AddFigure(
      {.what = std::move(what), .paper = std::move(paper), .line = StrCat("≥ ", ShortText(line))},
      ours, {.low = line}, unit);
}

Row& Judgement::Between(std::string what, std::string paper, const Estimate& ours, double low,
                        double high, const std::string& unit) {
  return AddFigure({.what = std::move(what),
                    .paper = std::move(paper),
                    .line = StrCat(NumberText(low), " to ", NumberText(high))},
                   ours, {.low = low, .high = high}, unit);
}

Row& Judgement::NotAbove(std::string what, std::string paper, const Estimate& ours, double line,
                         double margin, const std::string& unit) {
  return AddFigure({.what = std::move(what),
                    .paper = std::move(paper),
                    .line = StrCat("≤ ", ShortText(line), " + ", ShortText(margin))},
                   ours, {.high = line + margin}, unit);
}

Row& Judgement::Near(std::string what, std::string paper, const Estimate& ours, double target,
                     double margin, const std::string& unit) {
  return AddFigure({.what = std::move(what),
                    .paper = std::move(paper),
                    .line = StrCat(ShortText(target), " ± ", ShortText(margin))},
                   ours, {.low = target - margin, .high = target + margin}, unit);
}

Row& Judgement::Holds(std::string what, std::string paper, std::string ours, std::string line,
                      bool holds) {
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = std::move(ours),
              .line = std::move(line),
              .decision = Decide(holds, run_count_, length_)});
}

Row& Judgement::Shown(std::string what, std::string paper, const Estimate& ours,
                      const std::string& unit) {
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = WithUnit(ToText(ours), unit),
              .estimate = ours});
}

Verdict Judgement::verdict() const {
  bool any = false;
  bool all = true;
  for (const Row& row : rows_) {
    if (!Counts(row)) continue;
    any = true;
    if (row.missed()) return Verdict::kMissed;
    all = all && row.holds();
  }
  if (!any) return Verdict::kMissed;
  return all ? Verdict::kHolds : Verdict::kNotDecided;
}

}  // namespace search::lab
