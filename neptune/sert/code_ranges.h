// Which addresses are whose code, as the dynamic linker loaded it.
//
//   program_code  the program, and libraries that were declared to count as it: a request may be ended there. Others
//                 may hold locks that nobody sees.
//   library_code  the C library and the dynamic linker: what they allocate for themselves stays
//
// Threads: Contains anywhere, also in a signal handler; the others anywhere else.
// Errors: numbers of errno.
// Limits: kCodeRangeMax ranges.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace neptune::sert {

inline constexpr size_t kCodeRangeMax = 64;

class CodeRanges {
 public:
  // Each adds what is not in it yet. 0, or ENOSPC.
  int AddProgram() { return AddWhatHas(nullptr); }
  // Adds the library that `address` is in. 0, or ENOENT no library has it, or ENOSPC.
  int AddLibraryOf(const void* address);
  int Add(const void* begin, size_t size);

  // The same for the range that was added first: one comparison. REQUIRES: that was before, for this thread too.
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
  // The first library, which is the program, if `address` is null.
  int AddWhatHas(const void* address);

  std::atomic<bool> adding_{false};
  std::atomic<size_t> count_{0};
  Range ranges_[kCodeRangeMax];
};

// Hidden: what asks for them at each call does so without a table of addresses.
extern __attribute__((visibility("hidden"))) CodeRanges program_code;
extern __attribute__((visibility("hidden"))) CodeRanges library_code;
// Where the C library allocates the buffers of streams.
extern __attribute__((visibility("hidden"))) CodeRanges stream_buffer_code;

// Fills the three. Once.
void FindCode();

}  // namespace neptune::sert
