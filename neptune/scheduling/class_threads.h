// How many requests of each service class are at work, and how many may be.
//
//   all   ▒▒▒▒▒▒▒▒▒▒▒▒   12
//   gold  ▒▒▒▒▒▒▒▒        8 of its own, which no other class gets
//   others        ▒▒▒▒    what the classes with a number of their own leave
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

// Requests at work at once, of one service on one node.
inline constexpr size_t kConcurrencyMax = 10'000;

struct ThreadShares {
  // Most requests at work at once.
  size_t all = 8;
  // Of each class that has a number of its own; a class that is not named has none.
  std::vector<std::optional<size_t>> own = {};
};

// Errors: kInvalidArgument none at all or over kConcurrencyMax, a class with none, more of their own than there are, more classes than
//   `class_count`, or classes that would get none because the others have all.
Status CheckThreadShares(const ThreadShares& shares, size_t class_count);

class ClassThreads {
 public:
  // REQUIRES: CheckThreadShares(shares, class_count).ok().
  ClassThreads(const ThreadShares& shares, size_t class_count);

  // What is at work over the new numbers goes on. REQUIRES: as above.
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
  // For work of no class: of all, and of nobody's own.
  void Take() { ++busy_; }
  void Free() { --busy_; }

  size_t busy() const { return busy_; }
  size_t busy_of(ClassNumber number) const { return busy_of_[number]; }
  std::optional<size_t> own_of(ClassNumber number) const { return shares_.own[number]; }

 private:
  ThreadShares shares_;  // own: one for each class
  size_t shared_ = 0;    // for all classes without a number of their own
  size_t busy_ = 0;
  size_t busy_shared_ = 0;  // of classes without a number of their own
  std::vector<size_t> busy_of_;
};

}  // namespace neptune
