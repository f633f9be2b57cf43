#include "cache/eviction/window_climber.h"

#include <cmath>

namespace search::cache {

std::optional<double> WindowClimber::Count(bool is_hit, uint64_t sample_size) {
  ++request_count_;
  hit_count_ += is_hit ? 1 : 0;
  if (request_count_ < sample_size) return std::nullopt;
  const double hit_ratio = static_cast<double>(hit_count_) / static_cast<double>(request_count_);
  const double change = hit_ratio - last_hit_ratio_;
  const double move = change >= 0 ? step_ : -step_;
  step_ = std::abs(change) >= kRestartChange ? std::copysign(kFirstStep, move) : kDecay * move;
  last_hit_ratio_ = hit_ratio;
  request_count_ = 0;
  hit_count_ = 0;
  return move;
}

}  // namespace search::cache
