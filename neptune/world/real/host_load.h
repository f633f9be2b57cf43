// Load of the machine, from the kernel's counters in /proc/stat.
//
// Source: [Shen02] 2.4 (announcements carry CPU and I/O load, acquired through /proc).
// ParseProcStat and LoadBetween are pure; LoadSampler reads the file.
// Threads: thread-compatible.
// Units: the kernel's ticks; thousandths.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "neptune/world/world.h"

namespace neptune {

struct ProcessorTicks {
  uint64_t busy = 0;
  uint64_t waiting_for_disk = 0;
  uint64_t all = 0;
};

// Parses the line of all processors; nullopt if the text is not from /proc/stat.
std::optional<ProcessorTicks> ParseProcStat(std::string_view text);

HostLoad LoadBetween(const ProcessorTicks& before, const ProcessorTicks& after);

class LoadSampler {
 public:
  // Load since the previous call; zero at the first call and where /proc is not available.
  HostLoad Sample();

 private:
  std::optional<ProcessorTicks> last_;
};

}  // namespace neptune
