// What a run leaves in its folder, and the page that binds several of them.
//
//   OUT/NAME/series.csv    every run as it finished: what was varied, seed, metrics
//   OUT/NAME/result.json   configuration, revision, verdict, rows with intervals, metrics of every point
//   OUT/NAME/PLOT.svg      the plots
//   OUT/NAME/section.html  the experiment's part of the report
//   OUT/report.html        all sections of OUT on one page that needs no other file
//
// Threads: thread-compatible.
// Errors: those of writing files. A plot that cannot be drawn leaves a sentence in the section.
// Limits: a section of at most kSectionSizeMax bytes enters a report.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/engine/runner.h"

namespace search::lab {

inline constexpr size_t kSectionSizeMax = size_t{64} << 20;

// Facts of a run that are the same for all its points.
struct RunFacts {
  WorldKind world = WorldKind::kSim;
  Length length = Length::kFull;
  int seed_count = 0;
  uint64_t first_seed = 1;
  // Of the source tree: a commit, with "-dirty" if files differ from it; "unknown" outside one.
  std::string revision;
  double took_s = 0;
};

// Takes runs as they finish; each is in the file when Add returns.
class SeriesFile {
 public:
  static neptune::StatusOr<SeriesFile> Create(const std::string& path);
  SeriesFile(SeriesFile&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  ~SeriesFile();

  // The first error of a write is kept for Finish; the run goes on.
  void Add(const Point& point, uint64_t seed, const Measurement& measurement);
  neptune::Status Finish();

 private:
  explicit SeriesFile(FILE* file) : file_(file) {}
  FILE* file_;
  bool failed_ = false;
};

// The table for people.
std::string TableText(const Experiment& experiment, const Judgement& judgement);

// Writes everything but series.csv into `folder`, which exists.
neptune::Status WriteRecord(const std::string& folder, const Experiment& experiment,
                            const RunFacts& facts, const Results& results,
                            const Judgement& judgement);

// Binds the sections found in the folders below `out` into OUT/report.html; returns its path.
// Errors: kNotFound no section there.
neptune::StatusOr<std::string> WriteReport(const std::string& out);

// The revision of the source tree at `folder`.
std::string RevisionOf(const std::string& folder);

}  // namespace search::lab
