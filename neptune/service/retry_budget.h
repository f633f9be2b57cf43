// Retry budget: limits retries and hedges to a share of the calls made, with a reserve for bursts.
//
// A retry, a hedge or an early give-up is charged to the budget when it is decided. Without a
// budget, retries add load to a cluster that is slow because it is overloaded. A retried request is
// marked (RequestHeader::retried), and no tier below retries it again: for one request at the top,
// the lowest of d tiers receives at most 1 + d (attempts - 1) requests rather than attempts^d, and
// (1 + share)^d in the long run.
//
// This is the usual remedy against retry storms.
// Threads: thread-safe.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace neptune {

class RetryBudget {
 public:
  // Each call adds `share` of a retry. The balance starts at `reserve` retries and never exceeds
  // it.
  RetryBudget(double share, int64_t reserve)
      : gain_(static_cast<int64_t>(share * kUnit)), max_(reserve * kUnit), left_(max_) {}

  void OnCall() {
    int64_t left = left_.load(std::memory_order_relaxed);
    while (left < max_ && !left_.compare_exchange_weak(left, std::min(max_, left + gain_),
                                                       std::memory_order_relaxed)) {
    }
  }
  // Takes one retry; returns false if the budget is exhausted.
  bool Take() {
    int64_t left = left_.load(std::memory_order_relaxed);
    while (left >= kUnit) {
      if (left_.compare_exchange_weak(left, left - kUnit, std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  static constexpr int64_t kUnit = 1'000'000;
  const int64_t gain_;
  const int64_t max_;
  std::atomic<int64_t> left_;
};

}  // namespace neptune
