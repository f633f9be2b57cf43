#include "tools/bench_server/arrivals.h"

#include <cmath>

namespace search::tools {
namespace {

constexpr double kNsPerS = 1e9;
constexpr int kMantissaBits = 53;

// SplitMix64.
uint64_t NextRandom(uint64_t* state) {
  uint64_t mixed = *state += 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Arrivals::Arrivals(double rate, uint64_t seed) : mean_gap_ns_(kNsPerS / rate), state_(seed) {
  Advance();
}

void Arrivals::Advance() {
  const double uniform =
      std::ldexp(static_cast<double>(NextRandom(&state_) >> (64 - kMantissaBits)), -kMantissaBits);
  exact_next_ns_ -= mean_gap_ns_ * std::log1p(-uniform);
  next_ns_ = static_cast<int64_t>(exact_next_ns_);
}

}  // namespace search::tools
