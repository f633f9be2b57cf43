#include "index/tier/service/tier_reopening.h"

#include <algorithm>
#include <utility>

namespace search::index {

using neptune::Duration;
using neptune::LeafLock;
using neptune::Status;

void TierReopening::Begin(Task task, const Status& failure) {
  LeafLock lock(&mutex_);
  Plan(std::make_shared<const Task>(std::move(task)), failure, kTierReopenDelayMin);
}

void TierReopening::Plan(std::shared_ptr<const Task> task, const Status& failure, Duration delay) {
  if (has_stopped_) return;
  task->on_failure(failure, delay);
  loop_.Post([self = shared_from_this(), task = std::move(task), delay]() mutable {
    neptune::Loop& loop = self->loop_;
    loop.RunAt(loop.Now() + delay, [self = std::move(self), task = std::move(task), delay] {
      self->Attempt(task, delay);
    });
  });
}

void TierReopening::Attempt(std::shared_ptr<const Task> task, Duration delay) {
  LeafLock lock(&mutex_);
  if (has_stopped_) return;
  const Status opened = task->open();
  if (!opened.ok()) Plan(std::move(task), opened, std::min(2 * delay, kTierReopenDelayMax));
}

void TierReopening::Stop() {
  LeafLock lock(&mutex_);
  has_stopped_ = true;
}

}  // namespace search::index
