// Sampling profiler of allocations: which stacks allocate with operator new, and how much of it is
// still held at the end of the profile. It samples one allocation in about 64 KiB.
//
//   new ─► malloc ─► sampling distance used up? ─► record its stack, enter its address in a table
//   delete ─► is the address in the table? mark as freed ─► free
//
// Programs that link `allocation_hooks` have these operators; in others Start fails. The distance
// between a thread's samples is drawn from an exponential distribution, so a sample of n bytes
// represents n / (1 - exp(-n / 64 Ki)) bytes.
//
// Source: tcmalloc's sampling.
// Real world only: simulated nodes have no heap of their own.
// Threads: Start and Stop on any kernel thread, one after the other; the hooks on any thread.
// Errors: kFailedPrecondition a profile is being taken; kUnimplemented the program has no hooks.
// Limits: kAllocationSampleCountMax samples; further ones are only counted. Memory allocated before
//   the profile, or with malloc, is not included.
// Cost: new and delete read one flag while no profile is taken; 10 MiB of memory after the first
//   profile.

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

// Estimated totals.
struct AllocationCounts {
  double made = 0;
  double made_bytes = 0;
  double held = 0;  // the part still held at the end
  double held_bytes = 0;
};

struct AllocationSamples {
  // Keyed by stack, innermost address first.
  std::map<std::vector<uintptr_t>, AllocationCounts> stacks;
  int64_t lost_count = 0;  // samples beyond the limit
};

class AllocationSampler {
 public:
  static StatusOr<std::unique_ptr<AllocationSampler>> Start();
  // Calls Stop if it has not been called.
  ~AllocationSampler();

  AllocationSamples Stop();

 private:
  AllocationSampler() = default;
  bool ended_ = false;
};

// The following are for the hooks.
extern std::atomic<bool> allocations_are_sampled;
void SampleAllocation(const void* address, size_t size);
void ForgetAllocation(const void* address);
// Records that the program has hooks.
bool RegisterAllocationHooks();

}  // namespace neptune
