#include "tools/lab/engine/judgement.h"

#include <algorithm>

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

Row& Judgement::AtMost(std::string what, std::string paper, const Estimate& ours, double line,
                       const std::string& unit) {
  const double decides = length_ == Length::kFull ? ours.middle : ours.low;
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = WithUnit(ToText(ours), unit),
              .estimate = ours,
              .line = WithUnit("≤ " + ShortText(line), unit),
              .holds = decides <= line});
}

Row& Judgement::AtLeast(std::string what, std::string paper, const Estimate& ours, double line,
                        const std::string& unit) {
  const double decides = length_ == Length::kFull ? ours.middle : ours.high;
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = WithUnit(ToText(ours), unit),
              .estimate = ours,
              .line = WithUnit("≥ " + ShortText(line), unit),
              .holds = decides >= line});
}

Row& Judgement::Between(std::string what, std::string paper, const Estimate& ours, double low,
                        double high, const std::string& unit) {
  const bool full = length_ == Length::kFull;
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = WithUnit(ToText(ours), unit),
              .estimate = ours,
              .line = WithUnit(StrCat(NumberText(low), " to ", NumberText(high)), unit),
              .holds = (full ? ours.middle : ours.high) >= low &&
                       (full ? ours.middle : ours.low) <= high});
}

Row& Judgement::Holds(std::string what, std::string paper, std::string ours, std::string line,
                      bool holds) {
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = std::move(ours),
              .line = std::move(line),
              .holds = holds});
}

Row& Judgement::Shown(std::string what, std::string paper, const Estimate& ours,
                      const std::string& unit) {
  return Add({.what = std::move(what),
              .paper = std::move(paper),
              .ours = WithUnit(ToText(ours), unit),
              .estimate = ours});
}

bool Judgement::holds() const {
  bool any = false;
  for (const Row& row : rows_) {
    if (!Counts(row)) continue;
    any = true;
    if (!row.holds) return false;
  }
  return any;
}

}  // namespace search::lab
