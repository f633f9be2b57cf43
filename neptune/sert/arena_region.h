// The address space that request arenas live in: one reservation of the process, cut into runs of chunks.
//
//   base                                                                base + kArenaRegionSize
//    │ run │ run      │ run │            not taken yet                        │
//    └─┬───┘
//      └ 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... chunks of 64 KiB, aligned to a chunk
//
// Whether an address belongs to an arena is one subtraction and one comparison, so free can ask for each pointer. A run
// that is given back keeps its place and length for the next of that length; its memory goes back to the system while
// more than kKeptSize of free runs is resident.
//
// It is what malloc may stand on: it allocates with mmap only, and takes no lock that could wait for one
//   who allocates.
// Threads: thread-safe, once it is reserved. Not for signal handlers.
// Units: sizes in bytes.
// Errors: null when the region is used up, was not to be had, or the run is too long.
// Limits: kArenaRegionSize of addresses; runs of kRunSizeMax.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kArenaChunkSize = 64 * 1024;
inline constexpr size_t kArenaRegionSize = size_t{64} << 30;
inline constexpr size_t kRunSizeMax = size_t{1} << 30;
inline constexpr size_t kKeptSize = size_t{64} << 20;

// A run as it lies free; its owner overwrites all of it.
struct FreeRun {
  FreeRun* next = nullptr;
  bool is_resident = false;
};

class ArenaRegion {
 public:
  // Contains nothing and gives nothing, until Reserve.
  constexpr ArenaRegion() = default;
  explicit ArenaRegion(size_t size) { Reserve(size); }
  ~ArenaRegion() = default;  // the addresses stay reserved: memory may be freed after main
  ArenaRegion(const ArenaRegion&) = delete;
  ArenaRegion& operator=(const ArenaRegion&) = delete;

  // False if that much is not to be had. REQUIRES: called once.
  bool Reserve(size_t size);

  bool Contains(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - base_ < size_;
  }
  // Where the chunk begins that an address is in. REQUIRES: Contains(address).
  static void* ChunkOf(const void* address) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) & ~(kArenaChunkSize - 1));
  }

  // At least `size` bytes that are as they were left, or zero; the run's size comes back in *taken.
  void* Take(size_t size, size_t* taken);
  // REQUIRES: `size` is what Take said.
  void Give(void* run, size_t size);

  // Of runs that are taken.
  size_t taken_size() const { return taken_size_.load(std::memory_order_relaxed); }

 private:
  // Lengths between powers of two in four steps, so that at most a fifth of a run is wasted.
  static constexpr size_t kRunClassCount = 64;
  static size_t ClassOf(size_t chunk_count);
  static size_t ChunksOf(size_t run_class);

  // A lock for a few instructions, which nobody holds across a call that could allocate or wait.
  class Guard;

  uintptr_t base_ = 0;
  size_t size_ = 0;
  std::atomic<bool> locked_{false};
  size_t used_ = 0;           // from base_: has been taken once
  size_t resident_free_ = 0;  // of free runs
  FreeRun* free_[kRunClassCount] = {};
  std::atomic<size_t> taken_size_{0};
};

// The one of the process; there before any constructor runs, reserved when the first request begins.
extern __attribute__((visibility("hidden"))) ArenaRegion process_arena_region;

}  // namespace neptune
