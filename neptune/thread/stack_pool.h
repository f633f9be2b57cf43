// Stacks for user-level threads: mapped lazily, guarded where the kernel allows it, used again.
//
// Source: design of the runtime: guards for a bounded number, slabs with canaries beyond, since a
//   process may hold about 32,700 guarded stacks before the kernel's mapping limit.
// Layer: thread.
// Threads: thread-compatible; each scheduler has its own pool. The count of guarded stacks is shared.
// Units: bytes, rounded up to whole pages.
// Limits: kGuardedStackCountMax guarded stacks a process; beyond it stacks come from slabs of
//   kSlabStackCount with a canary at the low end, checked whenever a stack is given back.
// Errors: kResourceExhausted when the kernel refuses a mapping.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr int kGuardedStackCountMax = 8000;
inline constexpr int kSlabStackCount = 64;

struct Stack {
  char* low = nullptr;  // lowest usable byte
  size_t size = 0;
  bool guarded = false;
  char* top() const { return low + size; }
};

class StackPool {
 public:
  // Every stack has `stack_size` usable bytes; at most `idle_count_max` idle ones keep their
  // memory.
  explicit StackPool(size_t stack_size, size_t idle_count_max = 256);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  StatusOr<Stack> Take();
  // A bug (overflow) if the canary of an unguarded stack is gone.
  void GiveBack(const Stack& stack);
  // False if the low end of an unguarded stack was overwritten; always true for guarded ones.
  static bool CanaryIntact(const Stack& stack);

 private:
  StatusOr<Stack> MapGuarded();
  Status MapSlab();

  const size_t stack_size_;
  const size_t idle_count_max_;
  std::vector<Stack> idle_;
  std::vector<std::pair<char*, size_t>> mappings_of_slabs_;
};

}  // namespace neptune
