#include "neptune/service/worker_queue.h"

#include <utility>

namespace neptune {

void WorkerQueue::Post(Work work) {
  std::vector<size_t> chosen;
  {
    LeafLock lock(&mutex_);
    waiting_.push_back(std::move(work));
    chosen = Choose();
  }
  for (const size_t worker : chosen) Ask(worker);
}

std::vector<size_t> WorkerQueue::Choose() {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  workers_.resize(workers.size());
  std::vector<size_t> busy;
  for (size_t i = 0; i < workers.size(); ++i) {
    const size_t number = (next_ + i) % workers.size();
    Worker& worker = workers_[number];
    if (worker.is_asked) continue;
    if (worker.has_work || workers[number]->scheduler->is_busy()) {
      busy.push_back(number);
      continue;
    }
    next_ = number + 1;
    worker.is_asked = true;
    return {number};
  }
  for (const size_t number : busy) workers_[number].is_asked = true;
  return busy;
}

void WorkerQueue::Ask(size_t number) {
  loops_.workers()[number]->loop->Post([this, number, alive = alive_] {
    if (*alive) Take(number);
  });
}

void WorkerQueue::Take(size_t number) {
  Work work;
  std::vector<size_t> chosen;
  {
    LeafLock lock(&mutex_);
    Worker& worker = workers_[number];
    worker.is_asked = false;
    if (waiting_.empty()) return;
    work = std::move(waiting_.front());
    waiting_.pop_front();
    worker.has_work = true;
    if (!waiting_.empty()) chosen = Choose();
  }
  for (const size_t other : chosen) Ask(other);
  const std::shared_ptr<std::atomic<bool>> alive = alive_;
  work(*loops_.workers()[number]);
  if (!*alive) return;
  LeafLock lock(&mutex_);
  workers_[number].has_work = false;
}

}  // namespace neptune
