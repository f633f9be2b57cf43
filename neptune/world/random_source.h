// Random numbers provided by the world, so that a seed reproduces a run.
//
// The generator is splitmix64-seeded xoshiro256** [Blackman18].
// Threads: thread-compatible; each loop has its own.

#pragma once

#include <cstdint>

namespace neptune {

class RandomSource {
 public:
  explicit RandomSource(uint64_t seed);

  // Uniform over all 64-bit values.
  uint64_t Next();
  // Uniform over [0, bound); 0 if bound is 0.
  uint64_t Below(uint64_t bound);
  // Uniform over [0, 1).
  double Uniform();
  // Exponential with the given mean (> 0).
  double Exponential(double mean);

  // Makes this a UniformRandomBitGenerator for std::shuffle and the standard distributions.
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return Next(); }

 private:
  uint64_t state_[4];
};

}  // namespace neptune
