#include "neptune/admin/profile/frame_walk.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace neptune {
namespace {

// Larger distances between frames are treated as invalid.
constexpr uintptr_t kFrameSizeMax = uintptr_t{1} << 20;

// Memory layout at the frame pointer of a function.
struct FrameLink {
  uintptr_t caller_frame;
  uintptr_t return_address;
};

}  // namespace

bool ReadMemory(pid_t self, uintptr_t at, void* into, size_t size) {
  const iovec to = {into, size};
  const iovec from = {reinterpret_cast<void*>(at), size};
  return syscall(SYS_process_vm_readv, self, &to, 1, &from, 1, 0) == static_cast<ssize_t>(size);
}

void WalkFrames(pid_t self, uintptr_t low, uintptr_t frame, WalkedStack* stack) {
  while (stack->depth < kStackDepthMax) {
    const bool is_above = frame >= low && frame - low < kFrameSizeMax && frame % sizeof(void*) == 0;
    FrameLink link{};
    if (!is_above || !ReadMemory(self, frame, &link, sizeof(link)) || link.return_address == 0)
      return;
    stack->addresses[stack->depth++] = link.return_address - 1;
    low = frame + sizeof(FrameLink);
    frame = link.caller_frame;
  }
}

}  // namespace neptune
