#include "neptune/sert/arena_region.h"

#include <sched.h>
#include <sys/mman.h>

#include <bit>
#include <new>

namespace neptune {

class ArenaRegion::Guard {
 public:
  explicit Guard(std::atomic<bool>& locked) : locked_(locked) {
    while (locked_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Guard() { locked_.store(false, std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::atomic<bool>& locked_;
};

constinit ArenaRegion process_arena_region;

bool ArenaRegion::Reserve(size_t size) {
  // One more chunk, to align the first one.
  void* const at = mmap(nullptr, size + kArenaChunkSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  const auto from = reinterpret_cast<uintptr_t>(at);
  base_ = (from + kArenaChunkSize - 1) & ~(kArenaChunkSize - 1);
  const uintptr_t to = from + size + kArenaChunkSize;
  if (base_ > from) munmap(at, base_ - from);
  if (to > base_ + size) munmap(reinterpret_cast<void*>(base_ + size), to - base_ - size);
  size_ = size;
  return true;
}

// 1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ...
size_t ArenaRegion::ClassOf(size_t chunk_count) {
  if (chunk_count <= 4) return chunk_count - 1;
  const auto octave = static_cast<size_t>(std::bit_width(chunk_count - 1)) - 3;  // 0: 5 to 8
  const size_t step = size_t{1} << octave;
  const size_t over = chunk_count - (size_t{4} << octave);
  return 4 + 4 * octave + (over + step - 1) / step - 1;
}

size_t ArenaRegion::ChunksOf(size_t run_class) {
  if (run_class < 4) return run_class + 1;
  const size_t octave = (run_class - 4) / 4;
  return (4 + (run_class - 4) % 4 + 1) << octave;
}

void* ArenaRegion::Take(size_t size, size_t* taken) {
  if (size > kRunSizeMax) return nullptr;
  const size_t chunk_count = size == 0 ? 1 : (size + kArenaChunkSize - 1) / kArenaChunkSize;
  const size_t run_class = ClassOf(chunk_count);
  const size_t run_size = ChunksOf(run_class) * kArenaChunkSize;
  void* run = nullptr;
  {
    Guard guard(locked_);
    if (FreeRun* const free = free_[run_class]) {
      free_[run_class] = free->next;
      if (free->is_resident) resident_free_ -= run_size;
      run = free;
    } else if (run_size <= size_ - used_) {
      run = reinterpret_cast<void*>(base_ + used_);
      used_ += run_size;
    }
  }
  if (run == nullptr) return nullptr;
  taken_size_.fetch_add(run_size, std::memory_order_relaxed);
  *taken = run_size;
  return run;
}

void ArenaRegion::Give(void* run, size_t size) {
  taken_size_.fetch_sub(size, std::memory_order_relaxed);
  const size_t run_class = ClassOf(size / kArenaChunkSize);
  bool keeps = false;
  {
    Guard guard(locked_);
    keeps = resident_free_ + size <= kKeptSize;
    if (keeps) resident_free_ += size;
  }
  // Outside of the lock, because the system call may take long; the run is not in a free list yet.
  if (!keeps) madvise(run, size, MADV_DONTNEED);
  auto* const free = new (run) FreeRun{nullptr, keeps};
  Guard guard(locked_);
  free->next = free_[run_class];
  free_[run_class] = free;
}

}  // namespace neptune
