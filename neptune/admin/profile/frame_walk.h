// Stacks by frame pointers. Words are read through the kernel, so that a frame pointer which is none ends the stack and not
// the process; nothing is locked or allocated.
//
// Threads: for signal handlers too.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kStackDepthMax = 64;

struct WalkedStack {
  size_t depth = 0;
  // Instructions, the innermost first; of callers, inside the call.
  uintptr_t addresses[kStackDepthMax];
};

// Of the process `self`, the caller's. False if that is no memory.
bool ReadMemory(pid_t self, uintptr_t at, void* into, size_t size);

// Adds the callers of the function whose frame is at `frame`, not below `low`.
void WalkFrames(pid_t self, uintptr_t low, uintptr_t frame, WalkedStack* stack);

}  // namespace neptune
