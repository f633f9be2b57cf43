// The memory budget as connections use it: which payloads are charged, and at which rank.
//
// A payload of at least kLargePayloadSize is charged by its size before it is buffered. Smaller
// ones are charged together, in steps, by their number.
//
// Threads: values; thread-safe as far as `is_control` is.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "neptune/base/memory_budget.h"
#include "neptune/wire/frame.h"

namespace neptune {

struct WireMemory {
  // Null: bytes are bounded by the limits of the connections only.
  std::shared_ptr<MemoryBudget> budget;
  // True for requests that keep the cluster together, such as those between replicas: they may use
  // the last of the budget. Null: none are.
  std::function<bool(const RequestHeader&)> is_control;

  // Rank of a charge that makes no difference between requests.
  static MemoryRank RankOf(size_t size) {
    return size <= MemoryBudget::kSmallHolding ? MemoryRank::kSmall : MemoryRank::kOrdinary;
  }
  // Charges a request of the connection with `names`, whose encoded header is `section`; false: it
  // does not fit.
  bool TryChargeRequest(MemoryShare& share, MemoryUse use, std::string_view section,
                        ReceivedNames* names, size_t size, MemoryCharge* charge) const;
  // The same for a header that is not encoded.
  bool TryChargeRequest(MemoryShare& share, MemoryUse use, const RequestHeader& header, size_t size,
                        MemoryCharge* charge) const;
  // True if the header is that of a control request.
  bool IsControl(const RequestHeader& header) const {
    return is_control != nullptr && is_control(header);
  }
};

}  // namespace neptune
