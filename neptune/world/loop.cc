#include "neptune/world/loop.h"

#include <utility>

namespace neptune {
namespace {

thread_local Loop* current_loop = nullptr;

}  // namespace

Loop* Loop::Current() { return current_loop; }

Loop* Loop::SetCurrent(Loop* loop) { return std::exchange(current_loop, loop); }

}  // namespace neptune
