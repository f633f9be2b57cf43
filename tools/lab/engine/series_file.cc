#include <cerrno>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/record.h"

namespace search::lab {
namespace {

// A field of a CSV line, quoted if necessary.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

neptune::StatusOr<SeriesFile> SeriesFile::Create(const std::string& path) {
  FILE* const file = fopen(path.c_str(), "w");
  if (file == nullptr) return neptune::ErrnoStatus(errno, "creating", path);
  SeriesFile series(file);
  // One line per metric, so that points with different metrics have the same format.
  series.failed_ = fputs("point,seed,metric,value\n", file) < 0;
  return series;
}

SeriesFile::~SeriesFile() {
  if (file_ != nullptr) fclose(file_);
}

void SeriesFile::Add(const Point& point, uint64_t seed, const Measurement& measurement) {
  const std::string where = Field(point.ToString());
  for (const auto& [metric, value] : measurement) {
    const std::string line = neptune::StrCat(where, ",", seed, ",", Field(metric), ",");
    failed_ |= fprintf(file_, "%s%.10g\n", line.c_str(), value) < 0;
  }
  failed_ |= fflush(file_) != 0;
}

neptune::Status SeriesFile::Finish() {
  FILE* const file = std::exchange(file_, nullptr);
  failed_ |= fclose(file) != 0;
  if (failed_) return neptune::ResourceExhausted("not all runs could be written to series.csv");
  return neptune::OkStatus();
}

}  // namespace search::lab
