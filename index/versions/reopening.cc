#include "index/versions/reopening.h"

#include <algorithm>
#include <utility>

namespace search::index {

using neptune::Duration;
using neptune::LeafLock;
using neptune::Status;

void Reopening::Begin(Task task, const Status& failure, Duration delay) {
  LeafLock lock(&mutex_);
  Plan(std::make_shared<const Task>(std::move(task)), failure, delay);
}

void Reopening::Plan(std::shared_ptr<const Task> task, const Status& failure, Duration delay) {
  if (has_stopped_) return;
  task->on_failure(failure, delay);
  loop_.Post([self = shared_from_this(), task = std::move(task), delay]() mutable {
    neptune::Loop& loop = self->loop_;
    loop.RunAt(loop.Now() + delay, [self = std::move(self), task = std::move(task), delay] {
      self->Attempt(task, delay);
    });
  });
}

void Reopening::Attempt(std::shared_ptr<const Task> task, Duration delay) {
  LeafLock lock(&mutex_);
  if (has_stopped_) return;
  const Status opened = task->open();
  if (!opened.ok()) Plan(std::move(task), opened, std::min(2 * delay, kReopenDelayMax));
}

void Reopening::Stop() {
  LeafLock lock(&mutex_);
  has_stopped_ = true;
}

}  // namespace search::index
