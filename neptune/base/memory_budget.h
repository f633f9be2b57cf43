// A node's budget of buffered bytes: who may buffer how much, while one peer can offer more than
// the machine has.
//
//   connection ── MemoryShare ─┐             TryCharge: fits ─► MemoryCharge, which gives the bytes
//   connection ── MemoryShare ─┼─► MemoryBudget                 back when it is destroyed
//                              ┘             else refused: the owner answers RESOURCE_EXHAUSTED
//
//   0 ───────────── size − reserve ─────── size − reserve/2 ──────────── size
//     kOrdinary                            kSmall                        kControl
//
// Three ranks of charges end at three levels, so that small requests are served while large ones
// are refused, and control traffic while both are. An ordinary charge must also leave its owner
// with at most a quarter of what is free: an owner that takes all it can leaves three quarters to
// the others, and the more owners hold, the smaller is the largest share. Below kSmallHolding an
// owner is never refused for its share.
//
// Source: [Choudhury98] (an owner's share is a multiple, here 1/4, of the free memory).
// No I/O, no clock; lock-free.
// Threads: MemoryBudget and MemoryShare are thread-safe. A MemoryCharge belongs to one thread at a
//   time and may be released on another one than it was made on.
// Units: bytes.
// Limits: charges never exceed size().

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace neptune {

// What buffered bytes are for.
enum class MemoryUse : uint8_t {
  kRequests,   // requests of peers: being received, queued, and at work
  kAnswers,    // answers that peers have not read
  kCalls,      // calls to other nodes: unsent requests, and answers that are being received
  kStreams,    // windows of open message streams
  kHttp,       // bodies of HTTP requests, and responses that clients have not read
  kSnapshots,  // data of replicas on their way to another member
};
inline constexpr size_t kMemoryUseCount = 6;
constexpr size_t IndexOf(MemoryUse use) { return static_cast<size_t>(use); }
// Name of the use in metrics and on status pages.
std::string_view NameOf(MemoryUse use);

enum class MemoryRank : uint8_t { kOrdinary, kSmall, kControl };

class MemoryBudget {
 public:
  // An owner may hold this much whatever its share is.
  static constexpr size_t kSmallHolding = 64 * 1024;
  // An owner's part of the free bytes, as a divisor.
  static constexpr size_t kShareDivisor = 4;
  // Part of the size that ordinary charges may not use, as a divisor.
  static constexpr size_t kReserveDivisor = 8;

  explicit MemoryBudget(size_t size) : size_(size), reserve_(size / kReserveDivisor) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  size_t size() const { return size_; }
  // Bytes kept for small and control charges.
  size_t reserve() const { return reserve_; }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t used(MemoryUse use) const { return uses_[IndexOf(use)].load(std::memory_order_relaxed); }
  // True while more than half of the bytes for ordinary charges is used: several owners hold all
  // that they may.
  bool under_pressure() const { return used() > (size_ - reserve_) / 2; }

  // Counts a refusal that became an error of a request, an answer, a call or a stream.
  void NoteRefusal(MemoryUse use) {
    refusals_[IndexOf(use)].fetch_add(1, std::memory_order_relaxed);
  }
  uint64_t refusals(MemoryUse use) const {
    return refusals_[IndexOf(use)].load(std::memory_order_relaxed);
  }

  // Largest amount that an owner of nothing could be charged now at this rank.
  size_t LargestCharge(MemoryRank rank) const;

 private:
  friend class MemoryShare;

  // End of the rank's part of the budget.
  size_t EndOf(MemoryRank rank) const;
  bool Fits(size_t used, size_t held, size_t more, MemoryRank rank) const;
  // Takes `more` bytes for an owner that holds `held`; false: they do not fit.
  bool TryTake(MemoryUse use, size_t held, size_t more, MemoryRank rank);
  void GiveBack(MemoryUse use, size_t size);

  const size_t size_;
  const size_t reserve_;
  std::atomic<size_t> used_{0};
  std::array<std::atomic<size_t>, kMemoryUseCount> uses_{};
  std::array<std::atomic<uint64_t>, kMemoryUseCount> refusals_{};
};

class MemoryShare;

// Bytes charged to a share; gives them back on destruction. Every request has one, which is mostly
// empty, so moving and destroying an empty one costs no call.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCharge&& other) noexcept
      : share_(std::move(other.share_)), use_(other.use_), size_(std::exchange(other.size_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    if (this == &other) return *this;
    Release();
    share_ = std::move(other.share_);
    use_ = other.use_;
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~MemoryCharge() { Release(); }

  size_t size() const { return size_; }
  // Gives back all but `size` bytes; no effect if there are fewer.
  void ShrinkTo(size_t size);
  void Release() {
    if (size_ > 0) ShrinkTo(0);
  }

 private:
  friend class MemoryShare;

  std::shared_ptr<MemoryShare> share_;  // null: empty
  MemoryUse use_ = MemoryUse::kRequests;
  size_t size_ = 0;
};

// The charges of one owner, for example a connection. Charges keep their share alive, and it the
// budget.
class MemoryShare : public std::enable_shared_from_this<MemoryShare> {
 public:
  explicit MemoryShare(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  // Null if `budget` is: nothing is charged then.
  static std::shared_ptr<MemoryShare> Of(const std::shared_ptr<MemoryBudget>& budget) {
    return budget == nullptr ? nullptr : std::make_shared<MemoryShare>(budget);
  }

  // Adds `more` bytes to `charge`, or returns false and changes nothing. Does not count a refusal.
  // REQUIRES: `charge` is empty, or of this share and use.
  bool TryCharge(MemoryUse use, size_t more, MemoryRank rank, MemoryCharge* charge);

  size_t held() const { return held_.load(std::memory_order_relaxed); }
  MemoryBudget& budget() const { return *budget_; }

 private:
  friend class MemoryCharge;
  void GiveBack(MemoryUse use, size_t size);

  const std::shared_ptr<MemoryBudget> budget_;
  std::atomic<size_t> held_{0};
};

// A charge that follows a changing size in coarse steps, so that small changes cost no shared
// update and the first kFreeSize bytes nothing at all.
class SteppedCharge {
 public:
  // An owner of this little is not worth a shared update; the number of owners bounds the sum.
  static constexpr size_t kFreeSize = 16 * 1024;
  static constexpr size_t kStep = 64 * 1024;

  // `share` null: everything is covered.
  SteppedCharge(std::shared_ptr<MemoryShare> share, MemoryUse use)
      : share_(std::move(share)), use_(use) {}

  // Makes the charge cover `size` bytes; false: they do not fit, and the charge is as before.
  bool Cover(size_t size, MemoryRank rank) {
    return share_ == nullptr || size <= kFreeSize || size <= charge_.size() || Add(size, rank);
  }
  // Gives back what exceeds `size` by more than two steps, or everything at 0.
  void Settle(size_t size) {
    if (size == 0) return charge_.Release();
    if (charge_.size() > size + 2 * kStep) charge_.ShrinkTo(size + kStep);
  }
  size_t size() const { return charge_.size(); }
  // Sizes up to this one are covered already.
  size_t covered_size() const {
    return share_ == nullptr ? ~size_t{0} : std::max(kFreeSize, charge_.size());
  }

 private:
  bool Add(size_t size, MemoryRank rank);

  const std::shared_ptr<MemoryShare> share_;
  const MemoryUse use_;
  MemoryCharge charge_;
};

}  // namespace neptune
