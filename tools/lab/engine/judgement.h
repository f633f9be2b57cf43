// The table of an experiment: the paper's figure, ours, the line, and whether it holds.
//
// Threads: thread-compatible.

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/engine/results.h"
#include "tools/lab/engine/verdict.h"
#include "tools/plot/plot.h"
#include "tools/statistics/estimate.h"

namespace search::lab {

struct Row {
  std::string what;
  // The paper's figure as a reader would quote it; empty if it has none.
  std::string paper;
  std::string ours;
  // Unset if ours is not a number.
  std::optional<Estimate> estimate;
  // Empty if the row is for comparison only.
  std::string line;
  Decision decision{.verdict = Verdict::kHolds};
  // The row also counts in a smoke run.
  bool shape = false;
  // The cause if the line is not reached; shown only then.
  std::string short_of_line;

  bool has_line() const { return !line.empty(); }
  bool holds() const { return decision.verdict == Verdict::kHolds; }
  bool missed() const { return decision.verdict == Verdict::kMissed; }
  // Marks a row that must hold even in the shortest run.
  Row& Shape() {
    shape = true;
    return *this;
  }
  // The known cause of a line that is not reached. The verdict remains "short of line".
  Row& ShortOfLine(std::string cause) {
    short_of_line = std::move(cause);
    return *this;
  }
};

class Judgement {
 public:
  // `run_count` is the number of runs of each point; rows that are not numbers need it.
  explicit Judgement(Length length, int run_count = kRunCountMin)
      : length_(length), run_count_(run_count) {}

  // Rows with a line, decided as engine/verdict.h says. `unit` follows ours and the line ("ms",
  // "x", "%").
  Row& AtMost(std::string what, std::string paper, const Estimate& ours, double line,
              const std::string& unit = "");
  Row& AtLeast(std::string what, std::string paper, const Estimate& ours, double line,
               const std::string& unit = "");
  Row& Between(std::string what, std::string paper, const Estimate& ours, double low, double high,
               const std::string& unit = "");
  // Rows that ask for "never worse" or "the same". The difference of two figures that are truly
  // equal has an interval around 0 for any number of runs; so such a row states the margin below
  // which a difference does not matter, and holds if the whole interval is within it. A margin is
  // chosen before the runs, from what the figure is used for.
  Row& NotAbove(std::string what, std::string paper, const Estimate& ours, double line,
                double margin, const std::string& unit);
  Row& Near(std::string what, std::string paper, const Estimate& ours, double target, double margin,
            const std::string& unit);
  // A line that is not a bound of one figure, such as an order; `ours` is the observation.
  Row& Holds(std::string what, std::string paper, std::string ours, std::string line, bool holds);
  // A figure without a line.
  Row& Shown(std::string what, std::string paper, const Estimate& ours,
             const std::string& unit = "");

  void AddPlot(plot::Plot plot) { plots_.push_back(std::move(plot)); }
  // Adds a sentence below the table.
  void Note(std::string text) { notes_.push_back(std::move(text)); }

  Length length() const { return length_; }
  const std::deque<Row>& rows() const { return rows_; }
  const std::vector<plot::Plot>& plots() const { return plots_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // Whether the row decides this run's verdict.
  bool Counts(const Row& row) const {
    return row.has_line() && (length_ != Length::kSmoke || row.shape);
  }
  // kHolds if at least one row counts and all that count hold; kMissed if one of them is missed or
  // none counts; otherwise kNotDecided.
  Verdict verdict() const;

 private:
  Row& Add(Row row);
  Row& AddFigure(Row row, const Estimate& ours, const Region& region, const std::string& unit);

  const Length length_;
  const int run_count_;
  std::deque<Row> rows_;  // references to elements remain valid
  std::vector<plot::Plot> plots_;
  std::vector<std::string> notes_;
};

}  // namespace search::lab
