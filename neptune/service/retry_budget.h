// A budget for work done twice: a share of the calls made, with a reserve for bursts.
//
// Whoever retries, hedges or gives up early takes from the budget when it decides to. Without one, a cluster that is
// slow because it is busy is made busier. That a request is done twice travels with it (RequestHeader::retried), and
// nobody below does it twice again: what reaches the lowest of d tiers for one request at the top is at most
// 1 + d (attempts - 1) requests, not attempts^d, and in the long run (1 + share)^d.
//
// The usual remedy against retry storms.
// Threads: thread-safe.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace neptune {

class RetryBudget {
 public:
  // `share` of a retry for each call; at most `reserve` retries at once, which it begins with.
  RetryBudget(double share, int64_t reserve)
      : gain_(static_cast<int64_t>(share * kUnit)), max_(reserve * kUnit), left_(max_) {}

  void OnCall() {
    int64_t left = left_.load(std::memory_order_relaxed);
    while (left < max_ && !left_.compare_exchange_weak(left, std::min(max_, left + gain_),
                                                       std::memory_order_relaxed)) {
    }
  }
  // False if there is none left.
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
