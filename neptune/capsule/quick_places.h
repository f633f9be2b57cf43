// Places of a capsule that kernel threads keep for their own calls, so that a call takes a place
// and gives it back without the capsule's lock and without a locked instruction.
//
//   bound of residents ──► places leased to threads, at most a quarter ──► calls of that thread
//                     └──► the other places, taken under the capsule's lock
//
// Only the bound of residents and a fixed timeout apply to such calls. A capsule with a throttle, a
// feedback timeout, bypass, a plug-in as policy, or fewer places with the dependency than residents
// takes every call under its lock. The bound is never exceeded; while threads keep places that they
// do not use, it is reached up to that many calls early.
//
// Threads: TryEnter and timeout on any thread, Leave on the thread that entered; the rest under the
//   capsule's lock.
// Limits: kLeaseSize places at a time, a quarter of the bound over all threads; no thread beyond
//   kThreadNumberCount has any. Counts are exact; the highest number of residents is the sum of the
//   threads' own.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "neptune/base/thread_cells.h"
#include "neptune/base/time.h"
#include "neptune/capsule/capsule_control.h"
#include "neptune/capsule/recent_times.h"

namespace neptune {

class QuickPlaces {
 public:
  static constexpr size_t kLeaseSize = 32;
  static constexpr size_t kShareDivisor = 4;

  QuickPlaces() = default;
  ~QuickPlaces();
  QuickPlaces(const QuickPlaces&) = delete;
  QuickPlaces& operator=(const QuickPlaces&) = delete;

  // Takes a place for a call of the calling thread, which the caller notes; false: there is none.
  bool TryEnter(TimePoint now, size_t* thread) {
    *thread = ThreadNumber();
    Block* const own = blocks_[*thread].load(std::memory_order_acquire);
    if (own == nullptr || own->free_count == 0 || !open_.load(std::memory_order_relaxed)) {
      return false;
    }
    Enter(*own, now);
    return true;
  }
  // Ends a call that entered on the thread.
  void Leave(size_t thread, CapsuleControl::Outcome outcome, TimePoint entered, TimePoint now) {
    Block& own = *blocks_[thread].load(std::memory_order_acquire);
    ++own.free_count;
    --own.resident_count;
    AddAlone(own.entered_sum_ns, -Nanos(entered));
    if (outcome == CapsuleControl::Outcome::kDone) {
      own.times_ns[DoneCount(own) % kTimeCount].store((now - entered).count(),
                                                      std::memory_order_relaxed);
    }
    AddAlone(own.left[static_cast<size_t>(outcome)], 1);
  }
  Duration timeout() const { return Duration(timeout_ns_.load(std::memory_order_relaxed)); }

  // Whether calls may enter here, and the bounds that they have. Once places were leased, calls may
  // no more enter here after a change that forbids it or leaves fewer places.
  void Set(bool may_enter, size_t resident_count_max, Duration timeout);
  // No further calls may enter here.
  void Close();
  // False if Lease would return false. Any thread.
  bool may_lease() const { return may_lease_.load(std::memory_order_relaxed); }
  // Leases more places to the calling thread; false: it may have no more.
  bool Lease();
  // Places that calls under the lock must not take.
  size_t reserved_count() const;

  struct Totals {
    size_t resident_count = 0;
    size_t resident_count_max = 0;
    uint64_t entered = 0;
    std::array<uint64_t, 4> left{};  // by outcome
    uint64_t entered_sum_ns = 0;     // over the calls inside, modulo 2^64
    double done_time_ns = 0;         // moving average of the latest, weighted by the threads' calls
  };
  Totals Sum() const;
  // Adds the latest times of calls that were done.
  void AddTimesTo(RecentTimes* times) const;

 private:
  static constexpr size_t kTimeCount = 64;
  // State of one thread, written by it only. What others read is atomic.
  struct alignas(64) Block {
    size_t free_count = 0;  // leased and not taken
    size_t resident_count = 0;
    std::atomic<uint64_t> entered{0};
    std::array<std::atomic<uint64_t>, 4> left{};
    std::atomic<uint64_t> entered_sum_ns{0};
    std::atomic<size_t> resident_count_max{0};
    std::array<std::atomic<int64_t>, kTimeCount> times_ns{};  // a ring of the latest
  };

  static uint64_t Nanos(TimePoint time) {
    return static_cast<uint64_t>(time.time_since_epoch().count());
  }
  // Adds to a value that only this thread writes.
  static void AddAlone(std::atomic<uint64_t>& value, uint64_t by) {
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  static void Enter(Block& own, TimePoint now) {
    --own.free_count;
    ++own.resident_count;
    AddAlone(own.entered, 1);
    AddAlone(own.entered_sum_ns, Nanos(now));
    if (own.resident_count > own.resident_count_max.load(std::memory_order_relaxed)) {
      own.resident_count_max.store(own.resident_count, std::memory_order_relaxed);
    }
  }
  static uint64_t DoneCount(const Block& block) {
    return block.left[static_cast<size_t>(CapsuleControl::Outcome::kDone)].load(
        std::memory_order_relaxed);
  }
  // Moving average of the latest times of calls that were done.
  static double MeanTime(const Block& block);
  void NoteLeases() {
    may_lease_.store(
        open_.load(std::memory_order_relaxed) && leased_count_ + kLeaseSize <= lease_count_max_,
        std::memory_order_relaxed);
  }

  std::atomic<bool> open_{false};
  std::atomic<bool> may_lease_{false};
  std::atomic<int64_t> timeout_ns_{0};
  size_t leased_count_ = 0;
  size_t lease_count_max_ = 0;
  bool is_closed_for_good_ = false;
  std::array<std::atomic<Block*>, kThreadNumberCount + 1> blocks_{};  // indexed by thread number
};

}  // namespace neptune
