#include "neptune/world/random_source.h"

#include <bit>
#include <cmath>

namespace neptune {
namespace {

uint64_t SplitMix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

RandomSource::RandomSource(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t RandomSource::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t RandomSource::Below(uint64_t bound) {
  if (bound == 0) return 0;
  const uint64_t rejected = -bound % bound;  // 2^64 mod bound: values below it would be biased
  uint64_t value = Next();
  while (value < rejected) value = Next();
  return value % bound;
}

double RandomSource::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double RandomSource::Exponential(double mean) { return -mean * std::log1p(-Uniform()); }

}  // namespace neptune
