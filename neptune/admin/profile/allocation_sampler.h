// Who allocates memory with operator new, and what of it is still held at the end: the stack of one allocation in each
// 64 KiB or so, while a profile is taken.
//
//   new ─► malloc ─► so many bytes since the thread's last sample? ─► its stack, its address in a table
//   delete ─► is the address in the table? given back ─► free
//
// Programs that link `allocation_hooks` have these operators; in others Start is refused. Each allocation of a thread
// ends a distance that is drawn from an exponential distribution, so that a sample of n bytes stands for
// n / (1 - exp(-n / 64 Ki)).
//
// Source: tcmalloc's sampling. The real world only: nodes of the simulated one have no heap of their own.
// Threads: Start and Stop on any kernel thread, one after the other; the hooks anywhere.
// Errors: kFailedPrecondition a profile is being taken; kUnimplemented the program has no hooks.
// Limits: kAllocationSampleCountMax samples, further ones are counted only. What was allocated before the profile, or by
//   malloc itself, is not in it.
// Cost: one flag is read for each new and delete while nothing is sampled; 10 MiB once a profile has been taken.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kAllocationSampleCountMax = 16'384;
inline constexpr double kAllocationSampleDistance = 64 * 1024;  // bytes, mean

// Estimates.
struct AllocationCounts {
  double made = 0;
  double made_bytes = 0;
  double held = 0;  // of them, at the end
  double held_bytes = 0;
};

struct AllocationSamples {
  // By stack; the innermost address first.
  std::map<std::vector<uintptr_t>, AllocationCounts> stacks;
  int64_t lost_count = 0;  // samples beyond the limit
};

class AllocationSampler {
 public:
  static StatusOr<std::unique_ptr<AllocationSampler>> Start();
  // As Stop.
  ~AllocationSampler();

  AllocationSamples Stop();

 private:
  AllocationSampler() = default;
  bool ended_ = false;
};

// For the hooks.
extern std::atomic<bool> allocations_are_sampled;
void SampleAllocation(const void* address, size_t size);
void ForgetAllocation(const void* address);
// Says that the program has hooks.
bool RegisterAllocationHooks();

}  // namespace neptune
