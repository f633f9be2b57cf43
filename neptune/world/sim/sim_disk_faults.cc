#include "neptune/world/sim/sim_disk_faults.h"

#include <utility>

#include "neptune/base/strings.h"

namespace neptune {

void SimDiskFaults::FailReadsAtRandom(double probability, uint64_t seed) {
  read_error_probability_ = probability;
  random_ = RandomSource(seed);
}

void SimDiskFaults::NoteCrash() {
  on_flush_ = nullptr;
  is_losing_power_ = false;
  flush_time_ = Duration{0};
}

Duration SimDiskFaults::TakeFlushTime() { return std::exchange(flush_time_, Duration{0}); }

Status SimDiskFaults::BeforeRead(std::string_view kind, std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(BeforeWrite(kind, name));
  const bool fails = read_error_probability_ > 0 && random_.Uniform() < read_error_probability_;
  if (!fails) return OkStatus();
  ++counts_.failed_reads;
  return Unavailable("read ", kind, name, ": input/output error");
}

Status SimDiskFaults::BeforeOpen(std::string_view kind, std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(BeforeWrite(kind, name));
  if (open_.ok()) return OkStatus();
  ++counts_.refused_opens;
  return Annotate(open_, StrCat("open ", kind, name));
}

Status SimDiskFaults::BeforeFlush(std::string_view kind, std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(BeforeWrite(kind, name));
  if (on_flush_ != nullptr) {
    is_losing_power_ = true;
    ++counts_.torn_flushes;
    std::exchange(on_flush_, nullptr)();
    return BeforeWrite(kind, name);
  }
  if (flush_delay_ <= Duration{0}) return OkStatus();
  ++counts_.delayed_flushes;
  flush_time_ += flush_delay_;
  return OkStatus();
}

Status SimDiskFaults::BeforeWrite(std::string_view kind, std::string_view name) {
  if (!is_losing_power_) return OkStatus();
  return Unavailable(kind, name, ": the machine is losing its power");
}

}  // namespace neptune
