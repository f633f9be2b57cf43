// The table of an experiment: the paper's figure, ours, the line, whether it holds.
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
  // The paper's figure as a reader would quote it; empty: it has none.
  std::string paper;
  std::string ours;
  // Absent where ours is not a number.
  std::optional<Estimate> estimate;
  // Empty: printed for comparison only.
  std::string line;
  bool holds = true;
  // Counts in a smoke run too.
  bool shape = false;
  // Why the line is not reached; shown only while it is not.
  std::string short_of_line;

  bool has_line() const { return !line.empty(); }
  // Marks a row that must hold even in the shortest run.
  Row& Shape() {
    shape = true;
    return *this;
  }
  // What is known of why the line is not reached. The verdict stays "short of line".
  Row& ShortOfLine(std::string cause) {
    short_of_line = std::move(cause);
    return *this;
  }
};

class Judgement {
 public:
  explicit Judgement(Length length) : length_(length) {}

  // Rows with a line. `unit` follows ours and the line ("ms", "x", "%"). A quick or smoke run takes the end of the
  // interval that is on the line's side, a full one its middle.
  Row& AtMost(std::string what, std::string paper, const Estimate& ours, double line,
              const std::string& unit = "");
  Row& AtLeast(std::string what, std::string paper, const Estimate& ours, double line,
               const std::string& unit = "");
  Row& Between(std::string what, std::string paper, const Estimate& ours, double low, double high,
               const std::string& unit = "");
  // A line that is no bound of one figure, such as an order: `ours` says what was found.
  Row& Holds(std::string what, std::string paper, std::string ours, std::string line, bool holds);
  // A figure without a line.
  Row& Shown(std::string what, std::string paper, const Estimate& ours,
             const std::string& unit = "");

  void AddPlot(plot::Plot plot) { plots_.push_back(std::move(plot)); }
  // A sentence under the table.
  void Note(std::string text) { notes_.push_back(std::move(text)); }

  Length length() const { return length_; }
  const std::deque<Row>& rows() const { return rows_; }
  const std::vector<plot::Plot>& plots() const { return plots_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // Whether the row decides this run's verdict.
  bool Counts(const Row& row) const {
    return row.has_line() && (length_ != Length::kSmoke || row.shape);
  }
  // Every row that counts holds, and there is one.
  bool holds() const;

 private:
  Row& Add(Row row);

  const Length length_;
  std::deque<Row> rows_;  // its elements stay where they are
  std::vector<plot::Plot> plots_;
  std::vector<std::string> notes_;
};

}  // namespace search::lab
