#include "neptune/service/loop_thread.h"

#include "neptune/thread/synchronization.h"

namespace neptune {

Status RunOnThreadOf(NodeLoop& loop, const char* name, absl::FunctionRef<void()> work) {
  if (loop.loop == Loop::Current()) {
    work();
    return OkStatus();
  }
  OneShotEvent done;
  Status status;
  loop.loop->Post([&] {
    const auto body = [&] {
      work();
      done.Set();
    };
    status = loop.scheduler->Spawn(body, name).status();
    if (!status.ok()) done.Set();
  });
  while (!done.is_set()) this_thread::ParkUntilWoken();
  return status;
}

}  // namespace neptune
