// Log-linear histograms: counts of values with a fixed relative error in bounded memory.
//
//   value    0 .. 2^(p+1)   |  next power of two  |  next  | ...     p = precision_bits
//   buckets  1 wide each    |  2^p buckets        |  2^p   | ...
//
// A bucket is at most 1/2^p of its values wide and is represented by its middle, so a quantile is
// off by at most 1/2^(p+1): 0.8 % at the default of 6 bits.
//
// The layout is the one HdrHistogram made popular.
// Threads: Histogram is thread-compatible. AtomicHistogram is thread-safe: each kernel thread
//   records in a part of its own, without locked instructions, and writes no cache line that
//   another one writes (thread_cells.h). A snapshot taken during recording may contain some of the
//   values recorded meanwhile and miss others, and its sum may be ahead of its count by those.
// Units: values are whole numbers in the caller's unit (latencies: nanoseconds).
// Limits: a value above value_max counts as value_max; max() is still exact.
// Memory: 8 bytes a bucket, 2^p * (log2(value_max) - p + 1) buckets. An AtomicHistogram takes 600
//   bytes, about 400 for each thread that records, and 512 for each 64 buckets that a thread uses.

#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace neptune {

struct HistogramOptions {
  // Larger: smaller error; each step doubles the memory. 1 to 12. Default: 6, an error of 0.8 %.
  int precision_bits = 6;
  // Larger: more memory, 2^precision_bits buckets for each doubling.
  // Default: 2^42 - 1, an hour of nanoseconds; 19 KiB.
  uint64_t value_max = (uint64_t{1} << 42) - 1;

  friend bool operator==(const HistogramOptions&, const HistogramOptions&) = default;
};

// Maps values to buckets.
class HistogramLayout {
 public:
  // Options out of range are clamped to the allowed range.
  explicit HistogramLayout(const HistogramOptions& options);

  size_t BucketOf(uint64_t value) const {
    value = std::min(value, options_.value_max);
    const int bits = options_.precision_bits;
    const int shift = std::max(static_cast<int>(std::bit_width(value)) - 1 - bits, 0);
    return (static_cast<size_t>(shift) << bits) + (value >> shift);
  }
  // The smallest value of the bucket, and the number of values it covers.
  uint64_t LowerBound(size_t bucket) const;
  uint64_t Width(size_t bucket) const;
  size_t bucket_count() const { return bucket_count_; }
  const HistogramOptions& options() const { return options_; }

 private:
  HistogramOptions options_;
  size_t bucket_count_;
};

class Histogram {
 public:
  explicit Histogram(const HistogramOptions& options = {});

  void Record(uint64_t value, uint64_t count = 1);
  // Adds the other's values. If its options differ, each of its buckets is added at its middle
  // value.
  void Merge(const Histogram& other);
  void Clear();

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }  // exact; wraps around at 2^64
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Mean() const;

  // The smallest recorded value v so that at least `fraction` of the values are <= v, to the
  // bucket's precision and never outside [min(), max()]; 0 if nothing was recorded.
  // Percentile(0.99) is p99.
  uint64_t Percentile(double fraction) const;
  // Returns the number of values <= value; all values in the bucket of `value` are counted.
  uint64_t CountAtMost(uint64_t value) const;

  const HistogramLayout& layout() const { return layout_; }
  const std::vector<uint64_t>& buckets() const { return buckets_; }

 private:
  friend class AtomicHistogram;

  uint64_t Middle(size_t bucket) const;

  HistogramLayout layout_;
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

class AtomicHistogram {
 public:
  explicit AtomicHistogram(const HistogramOptions& options = {});
  ~AtomicHistogram();
  AtomicHistogram(const AtomicHistogram&) = delete;
  AtomicHistogram& operator=(const AtomicHistogram&) = delete;

  void Record(uint64_t value);
  Histogram Snapshot() const;

 private:
  struct Group;
  struct Part;
  struct Parts;

  const HistogramLayout layout_;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace neptune
