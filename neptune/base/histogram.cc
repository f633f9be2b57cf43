#include "neptune/base/histogram.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "neptune/base/thread_cells.h"

namespace neptune {
namespace {

constexpr int kPrecisionBitsMax = 12;

HistogramOptions Allowed(HistogramOptions options) {
  options.precision_bits = std::clamp(options.precision_bits, 1, kPrecisionBitsMax);
  options.value_max = std::max<uint64_t>(options.value_max, 1);
  return options;
}

void StoreMin(std::atomic<uint64_t>* min, uint64_t value) {
  uint64_t old = min->load(std::memory_order_relaxed);
  while (value < old && !min->compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

void StoreMax(std::atomic<uint64_t>* max, uint64_t value) {
  uint64_t old = max->load(std::memory_order_relaxed);
  while (value > old && !max->compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

HistogramLayout::HistogramLayout(const HistogramOptions& options)
    : options_(Allowed(options)), bucket_count_(BucketOf(options_.value_max) + 1) {}

uint64_t HistogramLayout::LowerBound(size_t bucket) const {
  const int bits = options_.precision_bits;
  if (bucket < (size_t{2} << bits)) return bucket;
  const size_t steps = size_t{1} << bits;
  return (steps + bucket % steps) << (bucket / steps - 1);
}

uint64_t HistogramLayout::Width(size_t bucket) const {
  const int bits = options_.precision_bits;
  if (bucket < (size_t{2} << bits)) return 1;
  return uint64_t{1} << ((bucket >> bits) - 1);
}

Histogram::Histogram(const HistogramOptions& options)
    : layout_(options), buckets_(layout_.bucket_count()) {}

void Histogram::Record(uint64_t value, uint64_t count) {
  if (count == 0) return;
  buckets_[layout_.BucketOf(value)] += count;
  count_ += count;
  sum_ += value * count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::Merge(const Histogram& other) {
  if (other.count_ == 0) return;
  const bool same = layout_.options() == other.layout_.options();
  for (size_t i = 0; i < other.buckets_.size(); ++i) {
    if (other.buckets_[i] == 0) continue;
    buckets_[same ? i : layout_.BucketOf(other.Middle(i))] += other.buckets_[i];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::Clear() { *this = Histogram(layout_.options()); }

double Histogram::Mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

uint64_t Histogram::Middle(size_t bucket) const {
  const uint64_t middle = layout_.LowerBound(bucket) + (layout_.Width(bucket) - 1) / 2;
  return std::clamp(middle, min_, max_);
}

uint64_t Histogram::Percentile(double fraction) const {
  if (count_ == 0) return 0;
  const double rank_wanted =
      std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_));
  if (rank_wanted >= static_cast<double>(count_)) return max_;
  const uint64_t rank = std::max<uint64_t>(static_cast<uint64_t>(rank_wanted), 1);
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return Middle(i);
  }
  return max_;
}

uint64_t Histogram::CountAtMost(uint64_t value) const {
  const size_t last = layout_.BucketOf(value);
  uint64_t count = 0;
  for (size_t i = 0; i <= last; ++i) count += buckets_[i];
  return count;
}

// What one thread has recorded; written by it only.
struct AtomicHistogram::Block {
  explicit Block(size_t bucket_count)
      : buckets(std::make_unique<std::atomic<uint64_t>[]>(bucket_count)) {}

  std::atomic<uint64_t> sum{0};
  std::atomic<uint64_t> min{UINT64_MAX};
  std::atomic<uint64_t> max{0};
  const std::unique_ptr<std::atomic<uint64_t>[]> buckets;
};

struct AtomicHistogram::Blocks {
  ~Blocks() {
    for (const auto& block : of_thread) delete block.load(std::memory_order_acquire);
  }
  // The shared block may be made by several threads at once.
  Block* Make(size_t thread, size_t bucket_count) {
    auto made = std::make_unique<Block>(bucket_count);
    Block* present = nullptr;
    const bool is_first =
        of_thread[thread].compare_exchange_strong(present, made.get(), std::memory_order_acq_rel);
    return is_first ? made.release() : present;
  }

  // Indexed by thread number; the last one is shared. Null: that thread has recorded nothing.
  std::array<std::atomic<Block*>, kThreadNumberCount + 1> of_thread{};
};

AtomicHistogram::AtomicHistogram(const HistogramOptions& options)
    : layout_(options), blocks_(std::make_unique<Blocks>()) {}

AtomicHistogram::~AtomicHistogram() = default;

void AtomicHistogram::Record(uint64_t value) {
  const size_t thread = ThreadNumber();
  Block* block = blocks_->of_thread[thread].load(std::memory_order_acquire);
  if (block == nullptr) block = blocks_->Make(thread, layout_.bucket_count());
  std::atomic<uint64_t>& bucket = block->buckets[layout_.BucketOf(value)];
  constexpr auto kRelaxed = std::memory_order_relaxed;
  // Release: a thread that sees the count also sees bounds that enclose the value.
  if (thread == kThreadNumberCount) {
    StoreMin(&block->min, value);
    StoreMax(&block->max, value);
    block->sum.fetch_add(value, kRelaxed);
    bucket.fetch_add(1, std::memory_order_release);
  } else {
    if (value < block->min.load(kRelaxed)) block->min.store(value, kRelaxed);
    if (value > block->max.load(kRelaxed)) block->max.store(value, kRelaxed);
    block->sum.store(block->sum.load(kRelaxed) + value, kRelaxed);
    bucket.store(bucket.load(kRelaxed) + 1, std::memory_order_release);
  }
}

Histogram AtomicHistogram::Snapshot() const {
  Histogram result(layout_.options());
  for (const auto& one : blocks_->of_thread) {
    const Block* const block = one.load(std::memory_order_acquire);
    if (block == nullptr) continue;
    for (size_t i = 0; i < result.buckets_.size(); ++i) {
      const uint64_t count = block->buckets[i].load(std::memory_order_acquire);
      result.buckets_[i] += count;
      result.count_ += count;
    }
    result.sum_ += block->sum.load(std::memory_order_relaxed);
    result.min_ = std::min(result.min_, block->min.load(std::memory_order_relaxed));
    result.max_ = std::max(result.max_, block->max.load(std::memory_order_relaxed));
  }
  return result;
}

}  // namespace neptune
