// The table of an experiment: the paper's figure, ours, the line, and whether it holds.
//
// Threads: thread-compatible.

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/engine/results.h"
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
  bool holds = true;
  // The row also counts in a smoke run.
  bool shape = false;
  // The cause if the line is not reached; shown only then.
  std::string short_of_line;

  bool has_line() const { return !line.empty(); }
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
  explicit Judgement(Length length) : length_(length) {}

  // Rows with a line. `unit` follows ours and the line ("ms", "x", "%"). A quick or smoke run
  // compares the favourable end of the interval, a full run its middle.
  Row& AtMost(std::string what, std::string paper, const Estimate& ours, double line,
              const std::string& unit = "");
  Row& AtLeast(std::string what, std::string paper, const Estimate& ours, double line,
               const std::string& unit = "");
  Row& Between(std::string what, std::string paper, const Estimate& ours, double low, double high,
               const std::string& unit = "");
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
  // True if at least one row counts and all that count hold.
  bool holds() const;

 private:
  Row& Add(Row row);

  const Length length_;
  std::deque<Row> rows_;  // references to elements remain valid
  std::vector<plot::Plot> plots_;
  std::vector<std::string> notes_;
};

}  // namespace search::lab
