// Classifies code addresses by the object that the dynamic linker loaded them from.
//
//   program_code  the program, and libraries declared to be part of it: a request may be ended
//   there; other
//                 libraries may hold locks that are not tracked
//   library_code  the C library and the dynamic linker: their own allocations are kept
//
// Threads: Contains may be called anywhere, including signal handlers; the others not in signal
//   handlers.
// Errors: errno values.
// Limits: kCodeRangeMax ranges.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace neptune::sert {

inline constexpr size_t kCodeRangeMax = 64;

class CodeRanges {
 public:
  // Adds the program's code. Adding a known range has no effect. Returns 0 or ENOSPC.
  int AddProgram() { return AddWhatHas(nullptr); }
  // Adds the library that contains `address`. Returns 0, ENOENT if there is none, or ENOSPC.
  int AddLibraryOf(const void* address);
  int Add(const void* begin, size_t size);

  // The same as Contains for the first added range only: one comparison. REQUIRES: adding it
  // happened before this call.
  bool IsInFirst(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - ranges_[0].begin < ranges_[0].size;
  }
  bool Contains(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    const size_t count = count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
      if (at - ranges_[i].begin < ranges_[i].size) return true;
    }
    return false;
  }

 private:
  struct Range {
    uintptr_t begin = 0;
    size_t size = 0;
  };
  // Adds the object that contains `address`; null: the first object, which is the program.
  int AddWhatHas(const void* address);

  std::atomic<bool> adding_{false};
  std::atomic<size_t> count_{0};
  Range ranges_[kCodeRangeMax];
};

// Hidden visibility, so that the checks at each call need no access through the global offset
// table.
extern __attribute__((visibility("hidden"))) CodeRanges program_code;
extern __attribute__((visibility("hidden"))) CodeRanges library_code;
// The function in which the C library allocates stream buffers.
extern __attribute__((visibility("hidden"))) CodeRanges stream_buffer_code;

// Fills the three ranges. Called once.
void FindCode();

}  // namespace neptune::sert
