// Writes the report of a run into its folder, each file atomically.
//
//   setup.json summary.json series.csv requests.csv.gz latency.hgrm latency-CLASS.hgrm latency.hlog
//   report.html
//
// Threads: one call at a time for a folder.
// Errors: UNAVAILABLE names each file that could not be written; the other files are still written.
// Limits: memory is a copy of the measurements.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "tools/replay/measurement_log.h"
#include "tools/replay/summary.h"

namespace search::tools {

// Name of the measurement file in a run's folder.
inline constexpr char kMeasurementFile[] = "measurements.bin";

neptune::Status WriteReport(const std::string& folder, const RecordedRun& run,
                            const RunSummary& summary);

// Returns one row per second of the run.
std::string SeriesCsv(const RunSummary& summary);
// Returns a self-contained page with plots. Errors: those of tools/plot.
neptune::StatusOr<std::string> ReportHtml(const RecordedRun& run, const RunSummary& summary);

}  // namespace search::tools
