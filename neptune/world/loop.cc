#include "neptune/world/loop.h"

#include <utility>

namespace neptune {
namespace {

// In the program's own thread-local block: found without a call. libneptune.so is there from the start.
__attribute__((tls_model("initial-exec"))) thread_local Loop* current_loop = nullptr;

}  // namespace

Loop* Loop::Current() { return current_loop; }

Loop* Loop::SetCurrent(Loop* loop) { return std::exchange(current_loop, loop); }

}  // namespace neptune
