// Compares two or more groups of runs, figure by figure: means with 95 % intervals, and
// significance of the difference.
//
// Source: Welch's t-test (tools/statistics/estimate.h).
// Threads: pure functions; ReadGroup reads files.
// Errors: INVALID_ARGUMENT a folder without runs, a run that is invalid, runs with different
//   set-ups; the message names runs and fields.
// Limits: kRunCountMax runs of a group; summaries of kSummarySizeMax bytes.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/run_setup.h"
#include "tools/statistics/estimate.h"

namespace search::tools {

inline constexpr size_t kRunCountMax = 1000;
inline constexpr size_t kSummarySizeMax = size_t{16} << 20;

// A figure of a run's summary.
struct Figure {
  std::string name;
  std::string pointer;  // into the JSON
  bool smaller_is_better = true;
};

struct ReadRun {
  std::string folder;
  RunSetup setup;
  bool valid = false;
  std::vector<double> values;  // one per figure, in order
};

struct RunGroup {
  std::string name;
  std::vector<ReadRun> runs;
};

// Latencies, rates and shares of all requests, and the 99th percentile of each class.
std::vector<Figure> FiguresOf(const std::vector<std::string>& classes);

// Reads the runs of "NAME=FOLDER,FOLDER..." or "FOLDER,..."; each folder is a run or contains
// folders of runs.
neptune::StatusOr<RunGroup> ReadGroup(const std::string& text);

struct ComparisonOptions {
  // Fields of the set-up that may differ.
  std::set<std::string> may_differ;
  bool allow_invalid = false;
};

// Fails if the runs are not comparable.
neptune::Status CheckComparable(const std::vector<RunGroup>& groups,
                                const ComparisonOptions& options);

enum class Verdict { kNoDifference, kBetter, kWorse, kOneRun };

struct ComparisonRow {
  Figure figure;
  std::vector<lab::Estimate> means;        // of each group
  std::vector<lab::Estimate> differences;  // of each group but the first, to the first
  std::vector<Verdict> verdicts;
};

// REQUIRES: at least two groups, each with a run.
std::vector<ComparisonRow> Compare(const std::vector<RunGroup>& groups);

std::string DescribeComparison(const std::vector<RunGroup>& groups,
                               const std::vector<ComparisonRow>& rows);
std::string ComparisonJson(const std::vector<RunGroup>& groups,
                           const std::vector<ComparisonRow>& rows);

}  // namespace search::tools
