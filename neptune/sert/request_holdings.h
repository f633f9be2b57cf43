// Counts the resources that a service's request holds while it runs: pending calls to other nodes,
// and places in dependency capsules. The counts show that a request that is ended early releases
// all of them.
//
//   Holding ──► RequestHoldings of the request ──► counts, while it runs and when it was ended
//   (one call, one place)
//
// Source: [Zhou06], "Resource Accounting".
// No I/O, no clock.
// Threads: thread-safe; a Holding belongs to one thread at a time.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace neptune {

enum class HeldKind { kCall, kCapsulePlace };
inline constexpr std::array kHeldKinds = {HeldKind::kCall, HeldKind::kCapsulePlace};

// Returns "call" or "capsule_place".
constexpr const char* Name(HeldKind kind) {
  return kind == HeldKind::kCall ? "call" : "capsule_place";
}

class RequestHoldings {
 public:
  int count(HeldKind kind) const {
    return counts_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  friend class Holding;
  std::array<std::atomic<int>, kHeldKinds.size()> counts_{};
};

// Represents one call or place that a request holds.
class Holding {
 public:
  Holding() = default;
  // If `holdings` is null, there is no request and nothing is counted.
  Holding(std::shared_ptr<RequestHoldings> holdings, HeldKind kind)
      : holdings_(std::move(holdings)), kind_(kind) {
    Count(1);
  }
  Holding(Holding&& other) noexcept { *this = std::move(other); }
  Holding& operator=(Holding&& other) noexcept {
    Release();
    holdings_ = std::move(other.holdings_);
    kind_ = other.kind_;
    return *this;
  }
  ~Holding() { Release(); }

  // Idempotent.
  void Release() {
    Count(-1);
    holdings_.reset();
  }

 private:
  void Count(int change) {
    if (holdings_ == nullptr) return;
    holdings_->counts_[static_cast<size_t>(kind_)].fetch_add(change, std::memory_order_relaxed);
  }

  std::shared_ptr<RequestHoldings> holdings_;
  HeldKind kind_ = HeldKind::kCall;
};

}  // namespace neptune
