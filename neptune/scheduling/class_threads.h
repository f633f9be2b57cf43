// Numbers of running requests for each service class, and their limits.
//
//   all   ▒▒▒▒▒▒▒▒▒▒▒▒   12
//   gold  ▒▒▒▒▒▒▒▒        8 reserved, which no other class gets
//   others        ▒▒▒▒    what the reservations leave
//
// Source: [Jamjoom04] VI (threads of each class).
// Threads: thread-compatible.
// Limits: kServiceClassCountMax classes, kConcurrencyMax threads.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/scheduling/service_class.h"

namespace neptune {

// Maximum number of running requests of one service on one node.
inline constexpr size_t kConcurrencyMax = 10'000;

struct ThreadShares {
  // Maximum number of running requests.
  size_t all = 8;
  // Threads reserved for each class; nullopt for a class without a reservation.
  std::vector<std::optional<size_t>> own = {};
};

// Errors: kInvalidArgument no threads or more than kConcurrencyMax, a reservation of 0,
//   reservations that exceed the total, more classes than `class_count`, or no thread left for a
//   class without a reservation.
Status CheckThreadShares(const ThreadShares& shares, size_t class_count);

class ClassThreads {
 public:
  // REQUIRES: CheckThreadShares(shares, class_count).ok().
  ClassThreads(const ThreadShares& shares, size_t class_count);

  // Running requests over the new limits continue. REQUIRES: as above.
  void SetShares(const ThreadShares& shares);
  const ThreadShares& shares() const { return shares_; }

  bool HasFree() const { return busy_ < shares_.all; }
  bool HasFree(ClassNumber number) const {
    if (!HasFree()) return false;
    const std::optional<size_t>& own = shares_.own[number];
    return own ? busy_of_[number] < *own : busy_shared_ < shared_;
  }
  void Take(ClassNumber number);
  void Free(ClassNumber number);
  // Count work that belongs to no class; it uses none of the reserved threads.
  void Take() { ++busy_; }
  void Free() { --busy_; }

  size_t busy() const { return busy_; }
  size_t busy_of(ClassNumber number) const { return busy_of_[number]; }
  std::optional<size_t> own_of(ClassNumber number) const { return shares_.own[number]; }

 private:
  ThreadShares shares_;  // own: one entry for each class
  size_t shared_ = 0;    // shared by all classes without a reservation
  size_t busy_ = 0;
  size_t busy_shared_ = 0;  // used by classes without a reservation
  std::vector<size_t> busy_of_;
};

}  // namespace neptune
