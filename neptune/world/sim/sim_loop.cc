#include "neptune/world/sim/sim_loop.h"

namespace neptune {

void SimLoop::Post(Task task) {
  if (!kernel_.OnOwnThread()) return kernel_.Inject(&state_, std::move(task));
  kernel_.At(kernel_.now(), EventKind::kTask, &state_, std::move(task));
}

TimerId SimLoop::RunAt(TimePoint when, Task task) {
  return kernel_.At(when, EventKind::kTimer, &state_, std::move(task));
}

void SimLoop::SetHanging(bool hangs) {
  if (hangs) {
    state_.hangs = true;
  } else {
    kernel_.Resume(state_);
  }
}

}  // namespace neptune
