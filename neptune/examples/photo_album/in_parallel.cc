#include "neptune/examples/photo_album/in_parallel.h"

#include "neptune/capsule/main_pool.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples::photo_album {

void RunInParallel(const std::vector<std::function<void()>>& tasks) {
  const OutsideMainPool outside;
  const ThreadRef caller(UserThread::Current());
  size_t running_count = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    // The captured references stay valid until all tasks have ended.
    const auto run = [&running_count, &caller, &task = tasks[i]] {
      task();
      --running_count;
      caller->Wake();
    };
    ++running_count;
    const bool is_last = i + 1 == tasks.size();
    if (is_last || !ThreadScheduler::Current()->Spawn(run, "in parallel").ok()) run();
  }
  while (running_count > 0) this_thread::ParkUntilWoken();
}

}  // namespace neptune::examples::photo_album
