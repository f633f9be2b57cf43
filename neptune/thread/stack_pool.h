// Stacks for user-level threads: mapped lazily, guarded where the kernel allows it, reused.
//
//   with guard advice (Linux 6.13)               others, after kGuardedStackCountMax guarded stacks
//   ┌───────┬─────────────────┬───────┬─────     ┌──────────────────┬──────────────────┬─────
//   │ guard │ stack ◄─────top │ guard │ stack    │c    stack ◄───top│c    stack ◄───top│c
//   └───────┴─────────────────┴───────┴─────     └──────────────────┴──────────────────┴─────
//   a page each; one mapping for a whole slab    c: a canary, in the page of the neighbour's top
//
// A canary costs no page of its own. A guarded mapping counts as two against the kernel's limit of
// 65,530 mappings, which 100,000 parked threads would exceed.
//
// Threads: thread-compatible; each scheduler has its own pool. The count of guarded mappings is
//   shared.
// Units: bytes, rounded up to whole pages.
// Limits: kGuardedStackCountMax guarded mappings a process; slabs of kSlabStackCount stacks.
// Errors: kResourceExhausted when the kernel refuses a mapping.
// Memory: a thread costs the pages it touches, one or two if it parks early. Idle stacks beyond
//   idle_count_max return their memory; those with canaries keep one page each until their whole
//   slab is idle.

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
  int slab = -1;  // slab in its pool; -1: a separate mapping
  char* top() const { return low + size; }
};

struct StackPoolOptions {
  // Maximum idle stacks that keep their memory. Larger: fewer system calls when many threads end
  // and start at once. Default: 256.
  size_t idle_count_max = 256;
  // Use the kernel's guard advice if available. Off: behave like kernels without it, for tests.
  bool guard_advice = true;
};

class StackPool {
 public:
  // Every stack has `stack_size` usable bytes.
  explicit StackPool(size_t stack_size, const StackPoolOptions& options = {});
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  StatusOr<Stack> Take();
  // Overflow, i.e. the canary of an unguarded stack is overwritten, is a bug and ends the process.
  void GiveBack(const Stack& stack);
  // Returns false if the low end of an unguarded stack was overwritten; always true for guarded
  // ones.
  static bool CanaryIntact(const Stack& stack);

 private:
  struct Slab {
    char* memory = nullptr;
    size_t size = 0;
    int taken_count = 0;
  };

  StatusOr<Stack> MapGuarded();
  Status MapSlab(bool guarded);
  void GiveMemoryBack(const Stack& stack);

  const size_t stack_size_;
  const StackPoolOptions options_;
  const bool guard_advice_;
  std::vector<Stack> idle_;
  std::vector<Slab> slabs_;
};

}  // namespace neptune
