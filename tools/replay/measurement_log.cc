#include "tools/replay/measurement_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::ErrnoStatus;
using neptune::Status;
using neptune::StatusOr;

constexpr std::string_view kMagic = "NEPTRUN1";
constexpr size_t kHeadSize = kMagic.size() + sizeof(uint32_t);

bool IsZero(const Measurement& measurement) { return measurement.done_ns == 0; }

bool IsPossible(const Measurement& m, const RunSetup& setup) {
  const auto is_time = [](int64_t ns) { return ns >= 0 && ns <= kRunLengthMaxNs; };
  return is_time(m.intended_ns) && is_time(m.sent_ns) && is_time(m.done_ns) &&
         m.service_class < setup.classes.size() && static_cast<int>(m.outcome) < kOutcomeCount &&
         m.cache <= CacheFact::kMiss && m.quality >= 0 && m.quality <= 1;
}

}  // namespace

StatusOr<std::unique_ptr<MeasurementLog>> MeasurementLog::Create(const std::string& path,
                                                                 const RunSetup& setup,
                                                                 uint64_t count) {
  const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return ErrnoStatus(errno, "creating", path);
  std::unique_ptr<MeasurementLog> log(new MeasurementLog(path, file));
  const std::string json = SetupJson(setup);
  std::string head(kMagic);
  for (int shift = 0; shift < 32; shift += 8)
    head.push_back(static_cast<char>(json.size() >> shift));
  head += json;
  const uint64_t size = head.size() + count * sizeof(Measurement);
  // File systems that cannot reserve are written as the run goes.
  const int error = posix_fallocate(file, 0, static_cast<off_t>(size));
  if (error != 0 && error != EOPNOTSUPP && error != EINVAL) {
    unlink(path.c_str());
    return neptune::Annotate(
        ErrnoStatus(error, "reserving space in", path),
        neptune::StrCat("the run needs ", size, " bytes for its measurements"));
  }
  NEPTUNE_RETURN_IF_ERROR(log->Write(head.data(), head.size()));
  return log;
}

MeasurementLog::~MeasurementLog() { close(file_); }

Status MeasurementLog::Write(const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = pwrite(file_, bytes, size, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return ErrnoStatus(written < 0 ? errno : ENOSPC, "writing", path_);
    bytes += written;
    size -= static_cast<size_t>(written);
    size_ += static_cast<uint64_t>(written);
  }
  return neptune::OkStatus();
}

Status MeasurementLog::Append(const std::vector<Measurement>& measurements) {
  return Write(reinterpret_cast<const char*>(measurements.data()),
               measurements.size() * sizeof(Measurement));
}

Status MeasurementLog::Finish() {
  if (ftruncate(file_, static_cast<off_t>(size_)) != 0) return ErrnoStatus(errno, "cutting", path_);
  if (fsync(file_) != 0) return ErrnoStatus(errno, "syncing", path_);
  return neptune::OkStatus();
}

StatusOr<RecordedRun> ReadMeasurementLog(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes,
                           neptune::ReadFile(path, kHeadSize + kSetupSizeMax +
                                                       kMeasurementCountMax * sizeof(Measurement)));
  return ParseMeasurementLog(bytes, path);
}

StatusOr<RecordedRun> ParseMeasurementLog(std::string_view bytes, std::string_view name) {
  const Status damaged = neptune::DataLoss(name, " is not a measurement file");
  if (bytes.size() < kHeadSize || !bytes.starts_with(kMagic)) return damaged;
  size_t json_size = 0;
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    json_size |= size_t{static_cast<unsigned char>(bytes[kMagic.size() + i])} << (8 * i);
  }
  if (json_size > kSetupSizeMax || bytes.size() < kHeadSize + json_size) return damaged;
  RecordedRun run;
  StatusOr<RunSetup> setup = ParseSetupJson(bytes.substr(kHeadSize, json_size));
  if (!setup.ok()) return neptune::Annotate(setup.status(), name);
  run.setup = *std::move(setup);
  for (size_t at = kHeadSize + json_size; at + sizeof(Measurement) <= bytes.size();
       at += sizeof(Measurement)) {
    Measurement measurement;
    std::memcpy(static_cast<void*>(&measurement), bytes.data() + at, sizeof(Measurement));
    if (IsZero(measurement)) break;
    if (!IsPossible(measurement, run.setup)) return damaged;
    run.measurements.push_back(measurement);
  }
  return run;
}

}  // namespace search::tools
