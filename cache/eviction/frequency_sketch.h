// Approximate counts of how often ids occurred lately, in 12 bytes for each expected id.
//
// A count-min sketch of 4-bit counters with minimal increment, behind a doorkeeper: a Bloom filter
// that takes an id's first occurrence, so that ids that occur once do not use up counters. After
// kSampleFactor occurrences for each word of the sketch, all counters are halved and the doorkeeper
// is emptied, so that the past fades.
//
// Source: [Einziger17] sections 3.2 to 3.4.
// Departs from source: a sketch that becomes too small is doubled without losing its counts.
// Threads: thread-compatible.
// Limits: counts are at most kEstimateMax. An estimate may be too high, and after a halving too low
//   by the halved part.

#pragma once

#include <cstdint>
#include <vector>

namespace search::cache {

class FrequencySketch {
 public:
  static constexpr uint32_t kEstimateMax = 16;
  static constexpr uint64_t kSampleFactor = 10;

  FrequencySketch() { Clear(); }

  void Add(uint64_t id);
  uint32_t Estimate(uint64_t id) const;
  // Makes the sketch large enough for that many ids of interest; it never shrinks.
  void EnsureCapacity(uint64_t id_count);
  void Clear();

  uint64_t word_count() const { return counters_.size(); }

 private:
  static constexpr uint64_t kWordCountMin = 256;
  static constexpr uint64_t kRowCount = 4;
  static constexpr uint64_t kFilterBitsPerWord = 32;
  static constexpr uint64_t kFilterHashCount = 2;
  static constexpr uint64_t kCounterMax = 15;

  struct Counter {
    uint64_t word = 0;
    uint64_t shift = 0;
  };
  Counter CounterOf(uint64_t hash, uint64_t row) const;
  uint64_t ValueOf(const Counter& counter) const;
  uint64_t LeastOf(uint64_t hash) const;
  uint64_t FilterBit(uint64_t hash, uint64_t number) const;
  bool PassesDoor(uint64_t hash) const;
  void Halve();

  std::vector<uint64_t> counters_;  // 16 counters of 4 bits a word; a power of two of words
  std::vector<uint64_t> filter_;
  uint64_t addition_count_ = 0;
};

}  // namespace search::cache
