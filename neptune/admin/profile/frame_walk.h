// Stack walking by frame pointers. Memory is read through the kernel, so an invalid frame pointer
// ends the walk and not the process. It takes no locks and does not allocate.
//
// Threads: async-signal-safe.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kStackDepthMax = 64;

struct WalkedStack {
  size_t depth = 0;
  // Instruction addresses, innermost first; for callers, an address inside the call instruction.
  uintptr_t addresses[kStackDepthMax];
};

// Reads memory of the calling process, whose id is `self`. Returns false if the address is not
// mapped.
bool ReadMemory(pid_t self, uintptr_t at, void* into, size_t size);

// Appends the callers of the function whose frame is at `frame`; addresses below `low` end the
// walk.
void WalkFrames(pid_t self, uintptr_t low, uintptr_t frame, WalkedStack* stack);

}  // namespace neptune
