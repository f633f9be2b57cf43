// The measurements of a run in a file whose space is reserved before the run begins, so that a disk
// that fills up later loses none of them; every report is made from this file.
//
//   8 bytes "NEPTRUN1" | 4 bytes size of the JSON, little-endian | JSON (RunSetup) | Measurement
//   ...
//
// Recovery: a file of a process that was killed ends with zeros, which are not a measurement (a
//   request is never done at 0), or inside one; both end the reading. It is read on a machine of
//   the same byte order.
//
// Threads: thread-compatible.
// Errors: those of neptune/base/file.h; DATA_LOSS the file is not a measurement file.
// Limits: kSetupSizeMax, kMeasurementCountMax.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/measurement.h"
#include "tools/replay/run_setup.h"

namespace search::tools {

inline constexpr size_t kSetupSizeMax = size_t{1} << 20;
inline constexpr uint64_t kMeasurementCountMax = 50'000'000;

class MeasurementLog {
 public:
  // Creates the file with room for `count` measurements.
  static neptune::StatusOr<std::unique_ptr<MeasurementLog>> Create(const std::string& path,
                                                                   const RunSetup& setup,
                                                                   uint64_t count);
  ~MeasurementLog();

  neptune::Status Append(const std::vector<Measurement>& measurements);
  // Gives back unused space and makes the file durable.
  neptune::Status Finish();

 private:
  MeasurementLog(std::string path, int file) : path_(std::move(path)), file_(file) {}
  neptune::Status Write(const char* bytes, size_t size);

  const std::string path_;
  const int file_;
  uint64_t size_ = 0;
};

struct RecordedRun {
  RunSetup setup;
  std::vector<Measurement> measurements;  // in order of completion
};
neptune::StatusOr<RecordedRun> ReadMeasurementLog(const std::string& path);
// The same from the file's bytes; `name` is used in messages.
neptune::StatusOr<RecordedRun> ParseMeasurementLog(std::string_view bytes, std::string_view name);

}  // namespace search::tools
