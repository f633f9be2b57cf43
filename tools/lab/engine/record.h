// The files of a run, and the report of several runs.
//
//   OUT/NAME/series.csv    every run, seed by seed: point, seed, metrics
//   OUT/NAME/result.json   configuration, revision, verdict, rows with intervals, all metrics
//   OUT/NAME/PLOT.svg      the plots
//   OUT/NAME/section.html  the experiment's part of the report
//   OUT/report.html        all sections of OUT on one self-contained page
//
// Threads: thread-compatible.
// Errors: those of writing files. A plot that cannot be drawn is replaced by a sentence.
// Limits: sections of more than kSectionSizeMax bytes are left out of a report.

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

// Properties that all points of a run share.
struct RunFacts {
  WorldKind world = WorldKind::kSim;
  Length length = Length::kFull;
  int seed_count = 0;
  // How often the rows were judged; intervals are those of engine/sequence.h.
  int look_count = 1;
  uint64_t first_seed = 1;
  // Commit of the source tree, with "-dirty" if files differ from it; "unknown" outside a
  // repository.
  std::string revision;
  double took_s = 0;
};

// Writes series.csv. Each run is in the file when Add returns.
class SeriesFile {
 public:
  static neptune::StatusOr<SeriesFile> Create(const std::string& path);
  SeriesFile(SeriesFile&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  ~SeriesFile();

  // Finish returns the first write error; the experiment continues.
  void Add(const Point& point, uint64_t seed, const Measurement& measurement);
  neptune::Status Finish();

 private:
  explicit SeriesFile(FILE* file) : file_(file) {}
  FILE* file_;
  bool failed_ = false;
};

// The table as printed on the terminal.
std::string TableText(const Experiment& experiment, const Judgement& judgement);

// Writes all files except series.csv into `folder`. REQUIRES: the folder exists.
neptune::Status WriteRecord(const std::string& folder, const Experiment& experiment,
                            const RunFacts& facts, const Results& results,
                            const Judgement& judgement);

// Combines the sections in the folders below `out` into OUT/report.html; returns its path.
// Errors: kNotFound there is no section.
neptune::StatusOr<std::string> WriteReport(const std::string& out);

// The revision of the source tree at `folder`.
std::string RevisionOf(const std::string& folder);

}  // namespace search::lab
