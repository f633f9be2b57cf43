#include "neptune/world/loop.h"

#include <utility>

namespace neptune {
namespace {

// Initial-exec TLS avoids a call on each access. It is possible because libneptune.so is loaded at
// program start.
__attribute__((tls_model("initial-exec"))) thread_local Loop* current_loop = nullptr;

}  // namespace

Loop* Loop::Current() { return current_loop; }

Loop* Loop::SetCurrent(Loop* loop) { return std::exchange(current_loop, loop); }

}  // namespace neptune
