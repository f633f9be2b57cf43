#include "neptune/world/real/host_load.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "neptune/base/file.h"

namespace neptune {
namespace {

constexpr size_t kProcStatSizeMax = 1 << 20;
// Columns of the line: user, nice, system, idle, iowait, irq, softirq, steal.
constexpr size_t kColumnCount = 8;
constexpr size_t kIdle = 3;
constexpr size_t kDiskWait = 4;

uint16_t Permille(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<uint16_t>(1000 * part / whole);
}

}  // namespace

std::optional<ProcessorTicks> ParseProcStat(std::string_view text) {
  if (!text.starts_with("cpu ")) return std::nullopt;
  text.remove_prefix(4);
  std::array<uint64_t, kColumnCount> columns = {};
  for (uint64_t& column : columns) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), column);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(end - text.data());
  }
  ProcessorTicks ticks;
  for (const uint64_t column : columns) ticks.all += column;
  ticks.waiting_for_disk = columns[kDiskWait];
  ticks.busy = ticks.all - columns[kIdle] - columns[kDiskWait];
  return ticks;
}

HostLoad LoadBetween(const ProcessorTicks& before, const ProcessorTicks& after) {
  // The kernel's counters may decrease slightly when processors go on- or offline.
  if (after.all <= before.all || after.busy < before.busy ||
      after.waiting_for_disk < before.waiting_for_disk) {
    return {};
  }
  const uint64_t all = after.all - before.all;
  return {Permille(std::min(all, after.busy - before.busy), all),
          Permille(std::min(all, after.waiting_for_disk - before.waiting_for_disk), all)};
}

HostLoad LoadSampler::Sample() {
  const StatusOr<std::string> text = ReadFile("/proc/stat", kProcStatSizeMax);
  const std::optional<ProcessorTicks> now = text.ok() ? ParseProcStat(*text) : std::nullopt;
  const HostLoad load = last_ && now ? LoadBetween(*last_, *now) : HostLoad();
  last_ = now;
  return load;
}

}  // namespace neptune
