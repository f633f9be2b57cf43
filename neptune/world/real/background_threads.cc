#include "neptune/world/real/background_threads.h"

namespace neptune {

void BackgroundThreads::Add(LongTask& task) {
  const ThreadStanding own = ThreadStanding::OfThisThread();
  LeafLock lock(&mutex_);
  members_.push_back({&task, own});
}

void BackgroundThreads::Remove(const LongTask& task) {
  LeafLock lock(&mutex_);
  std::erase_if(members_, [&](const Member& member) { return member.task == &task; });
}

void BackgroundThreads::MakeWay(const LongTask& task, TimePoint now) {
  if (!task.waits()) return;
  LeafLock lock(&mutex_);
  for (const Member& member : members_) {
    if (member.task == &task || !member.task->MustStepBack(now)) continue;
    // First, so that a task that ends just now finds it, and returns.
    member.task->StepBack();
    member.standing.StepBack();
  }
}

void BackgroundThreads::Return(LongTask& task) {
  LeafLock lock(&mutex_);
  for (const Member& member : members_) {
    if (member.task == &task) member.standing.Return();
  }
  task.Return();
}

}  // namespace neptune
