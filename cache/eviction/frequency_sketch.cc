#include "cache/eviction/frequency_sketch.h"

#include <algorithm>
#include <cstddef>

namespace search::cache {
namespace {

// The finaliser of MurmurHash3: every bit of the input changes about half of the output's.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdull;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return value ^ (value >> 33);
}

// Odd multiples of one hash, one for each row or bit.
uint64_t Rehash(uint64_t hash, uint64_t number) {
  return Mix(hash + (number + 1) * 0x9e3779b97f4a7c15ull);
}

}  // namespace

void FrequencySketch::Clear() {
  counters_.assign(kWordCountMin, 0);
  filter_.assign(kWordCountMin * kFilterBitsPerWord / 64, 0);
  addition_count_ = 0;
}

FrequencySketch::Counter FrequencySketch::CounterOf(uint64_t hash, uint64_t row) const {
  const uint64_t own = Rehash(hash, row);
  // Each row has four of the word's counters, so that rows never share one.
  return {.word = own & (counters_.size() - 1), .shift = (row * 4 + (own >> 62)) * 4};
}

uint64_t FrequencySketch::ValueOf(const Counter& counter) const {
  return counters_[counter.word] >> counter.shift & kCounterMax;
}

uint64_t FrequencySketch::LeastOf(uint64_t hash) const {
  uint64_t least = kCounterMax;
  for (uint64_t row = 0; row < kRowCount; ++row) {
    least = std::min(least, ValueOf(CounterOf(hash, row)));
  }
  return least;
}

uint64_t FrequencySketch::FilterBit(uint64_t hash, uint64_t number) const {
  return Rehash(hash, kRowCount + number) & (filter_.size() * 64 - 1);
}

bool FrequencySketch::PassesDoor(uint64_t hash) const {
  for (uint64_t i = 0; i < kFilterHashCount; ++i) {
    const uint64_t bit = FilterBit(hash, i);
    if ((filter_[bit / 64] >> (bit % 64) & 1) == 0) return false;
  }
  return true;
}

void FrequencySketch::Add(uint64_t id) {
  const uint64_t hash = Mix(id);
  if (!PassesDoor(hash)) {
    for (uint64_t i = 0; i < kFilterHashCount; ++i) {
      const uint64_t bit = FilterBit(hash, i);
      filter_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  } else if (const uint64_t least = LeastOf(hash); least < kCounterMax) {
    for (uint64_t row = 0; row < kRowCount; ++row) {
      const Counter counter = CounterOf(hash, row);
      if (ValueOf(counter) == least) counters_[counter.word] += uint64_t{1} << counter.shift;
    }
  }
  if (++addition_count_ >= kSampleFactor * counters_.size()) Halve();
}

uint32_t FrequencySketch::Estimate(uint64_t id) const {
  const uint64_t hash = Mix(id);
  return static_cast<uint32_t>(LeastOf(hash) + (PassesDoor(hash) ? 1 : 0));
}

void FrequencySketch::Halve() {
  for (uint64_t& word : counters_) word = word >> 1 & 0x7777777777777777ull;
  std::fill(filter_.begin(), filter_.end(), 0);
  addition_count_ /= 2;
}

// An index is the hash modulo a power of two: with twice the words, both places to which a counter
// may belong get its value.
void FrequencySketch::EnsureCapacity(uint64_t id_count) {
  const auto append_to_itself = [](std::vector<uint64_t>* words) {
    const size_t half = words->size();
    words->resize(2 * half);
    std::copy_n(words->begin(), half, words->begin() + static_cast<ptrdiff_t>(half));
  };
  while (counters_.size() < id_count) {
    append_to_itself(&counters_);
    append_to_itself(&filter_);
  }
}

}  // namespace search::cache
