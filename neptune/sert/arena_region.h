// The address space of request arenas: one reservation per process, divided into runs of chunks.
//
//   base                                                                base + kArenaRegionSize
//    │ run │ run      │ run │            not taken yet                        │
//    └─┬───┘
//      └ 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... chunks of 64 KiB, aligned to a chunk
//
// Testing whether an address belongs to an arena takes one subtraction and one comparison, so that
// free can test every pointer. A freed run keeps its position and length for reuse; its memory is
// returned to the system if more than kKeptSize of free runs is resident.
//
// malloc may be built on this: it allocates with mmap only, and takes no lock whose holder could
// allocate.
// Threads: thread-safe after Reserve. Not for signal handlers.
// Units: sizes in bytes.
// Errors: null if the region is exhausted, could not be reserved, or the run is too long.
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

// A free run; its next owner overwrites it.
struct FreeRun {
  FreeRun* next = nullptr;
  bool is_resident = false;
};

class ArenaRegion {
 public:
  // An empty region, which contains no address and allocates nothing until Reserve.
  constexpr ArenaRegion() = default;
  explicit ArenaRegion(size_t size) { Reserve(size); }
  ~ArenaRegion() = default;  // the addresses stay reserved, because memory may be freed after main
  ArenaRegion(const ArenaRegion&) = delete;
  ArenaRegion& operator=(const ArenaRegion&) = delete;

  // Reserves the addresses; returns false if they are not available. REQUIRES: called once.
  bool Reserve(size_t size);

  bool Contains(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - base_ < size_;
  }
  // Returns the begin of the chunk that contains the address. REQUIRES: Contains(address).
  static void* ChunkOf(const void* address) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) & ~(kArenaChunkSize - 1));
  }

  // Allocates a run of at least `size` bytes, with zero or old contents, and sets *taken to its
  // size.
  void* Take(size_t size, size_t* taken);
  // Frees a run. REQUIRES: `size` is the size that Take returned.
  void Give(void* run, size_t size);

  // Total size of allocated runs.
  size_t taken_size() const { return taken_size_.load(std::memory_order_relaxed); }

 private:
  // Size classes have four steps between powers of two, so that at most a fifth of a run is wasted.
  static constexpr size_t kRunClassCount = 64;
  static size_t ClassOf(size_t chunk_count);
  static size_t ChunksOf(size_t run_class);

  // A lock held for a few instructions, never across a call that could allocate or wait.
  class Guard;

  uintptr_t base_ = 0;
  size_t size_ = 0;
  std::atomic<bool> locked_{false};
  size_t used_ = 0;           // size from base_ that was ever allocated
  size_t resident_free_ = 0;  // resident size of free runs
  FreeRun* free_[kRunClassCount] = {};
  std::atomic<size_t> taken_size_{0};
};

// The region of the process; usable before any constructor runs, reserved when the first request
// begins.
extern __attribute__((visibility("hidden"))) ArenaRegion process_arena_region;

}  // namespace neptune
