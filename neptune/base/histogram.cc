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

// Sets *slot to a new object unless another thread does so first; returns the one that is there.
template <typename T, typename... Arguments>
T& MakeOnce(std::atomic<T*>* slot, const Arguments&... arguments) {
  auto made = std::make_unique<T>(arguments...);
  T* present = nullptr;
  if (!slot->compare_exchange_strong(present, made.get(), std::memory_order_acq_rel)) {
    return *present;
  }
  return *made.release();
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

// Some of the buckets, made when one of them counts for the first time.
struct alignas(64) AtomicHistogram::Group {
  static constexpr size_t kSize = 64;

  std::array<std::atomic<uint64_t>, kSize> counts{};
};

// What one kernel thread has recorded.
struct alignas(64) AtomicHistogram::Part {
  explicit Part(size_t bucket_count) : groups((bucket_count + Group::kSize - 1) / Group::kSize) {}
  ~Part() {
    for (const auto& group : groups) delete group.load(std::memory_order_acquire);
  }

  std::atomic<uint64_t>& CountOf(size_t bucket) {
    std::atomic<Group*>& slot = groups[bucket / Group::kSize];
    Group* const group = slot.load(std::memory_order_acquire);
    return (group != nullptr ? *group : MakeOnce(&slot)).counts[bucket % Group::kSize];
  }
  // The bucket is written last, with release order, here and below: a thread that sees the count
  // also sees bounds that enclose the value.
  void RecordAlone(uint64_t value, size_t bucket) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    if (value < min.load(kRelaxed)) min.store(value, kRelaxed);
    if (value > max.load(kRelaxed)) max.store(value, kRelaxed);
    sum.store(sum.load(kRelaxed) + value, kRelaxed);
    std::atomic<uint64_t>& count = CountOf(bucket);
    count.store(count.load(kRelaxed) + 1, std::memory_order_release);
  }
  void RecordShared(uint64_t value, size_t bucket) {
    StoreMin(&min, value);
    StoreMax(&max, value);
    sum.fetch_add(value, std::memory_order_relaxed);
    CountOf(bucket).fetch_add(1, std::memory_order_release);
  }

  std::atomic<uint64_t> sum{0};
  std::atomic<uint64_t> min{UINT64_MAX};
  std::atomic<uint64_t> max{0};
  std::vector<std::atomic<Group*>> groups;  // null: all of its buckets are 0
};

struct AtomicHistogram::Parts {
  ~Parts() {
    for (const auto& part : of_thread) delete part.load(std::memory_order_acquire);
  }

  // Indexed by thread number; the last one is shared. Null: that thread has recorded nothing.
  std::array<std::atomic<Part*>, kThreadNumberCount + 1> of_thread{};
};

AtomicHistogram::AtomicHistogram(const HistogramOptions& options)
    : layout_(options), parts_(std::make_unique<Parts>()) {}

AtomicHistogram::~AtomicHistogram() = default;

void AtomicHistogram::Record(uint64_t value) {
  const size_t thread = ThreadNumber();
  std::atomic<Part*>& slot = parts_->of_thread[thread];
  Part* part = slot.load(std::memory_order_acquire);
  if (part == nullptr) part = &MakeOnce(&slot, layout_.bucket_count());
  if (thread == kThreadNumberCount) {
    part->RecordShared(value, layout_.BucketOf(value));
  } else {
    part->RecordAlone(value, layout_.BucketOf(value));
  }
}

Histogram AtomicHistogram::Snapshot() const {
  Histogram result(layout_.options());
  for (const auto& of_thread : parts_->of_thread) {
    const Part* const part = of_thread.load(std::memory_order_acquire);
    if (part == nullptr) continue;
    for (size_t i = 0; i < result.buckets_.size(); ++i) {
      const Group* const group = part->groups[i / Group::kSize].load(std::memory_order_acquire);
      if (group == nullptr) continue;
      const uint64_t count = group->counts[i % Group::kSize].load(std::memory_order_acquire);
      result.buckets_[i] += count;
      result.count_ += count;
    }
    result.sum_ += part->sum.load(std::memory_order_relaxed);
    result.min_ = std::min(result.min_, part->min.load(std::memory_order_relaxed));
    result.max_ = std::max(result.max_, part->max.load(std::memory_order_relaxed));
  }
  return result;
}

}  // namespace neptune
