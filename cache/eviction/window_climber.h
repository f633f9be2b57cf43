// Hill climbing for the share of a window: a change that raised the hit ratio is repeated, one that
// lowered it is reversed, and steps shrink while little changes.
//
// Source: [Einziger18].
// Threads: thread-compatible.
// Units: shares of a cache's size.

#pragma once

#include <cstdint>
#include <optional>

namespace search::cache {

class WindowClimber {
 public:
  static constexpr double kFirstStep = 0.0625;
  static constexpr double kDecay = 0.98;
  // A change of the hit ratio of this much or more: the workload changed, so steps are large again.
  static constexpr double kRestartChange = 0.05;

  // Counts a request; the change of the share at the end of a sample of `sample_size` requests.
  std::optional<double> Count(bool is_hit, uint64_t sample_size);

 private:
  double step_ = kFirstStep;
  double last_hit_ratio_ = 0;
  uint64_t request_count_ = 0;
  uint64_t hit_count_ = 0;
};

}  // namespace search::cache
