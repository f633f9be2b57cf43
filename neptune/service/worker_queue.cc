#include "neptune/service/worker_queue.h"

#include <utility>

#include "neptune/service/loop_turns.h"

namespace neptune {

void WorkerQueue::Post(Work work, uint64_t group) {
  std::vector<size_t> chosen;
  {
    LeafLock lock(&mutex_);
    waiting_.push_back({std::move(work), group});
    chosen = Choose();
  }
  for (const size_t worker : chosen) Ask(worker);
}

std::optional<size_t> WorkerQueue::FreeHere() const {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  const Loop* const here = Loop::Current();
  for (size_t number = 0; number < workers.size(); ++number) {
    const NodeLoop& worker = *workers[number];
    if (worker.loop != here || worker.role != LoopRole::kServing) continue;
    const Worker& state = workers_[number];
    if (state.is_asked || state.has_work || worker.turns->is_taken()) return std::nullopt;
    return number;
  }
  return std::nullopt;
}

std::vector<size_t> WorkerQueue::Choose() {
  const std::vector<NodeLoop*>& workers = loops_.workers();
  workers_.resize(workers.size());
  if (const std::optional<size_t> here = FreeHere()) {
    NoteAsked(*here);
    return {*here};
  }
  std::vector<size_t> busy;
  std::optional<size_t> idle;
  size_t fewest = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    const size_t number = (last_ + i) % workers.size();
    if (workers_[number].is_asked) continue;
    const ThreadScheduler& scheduler = *workers[number]->scheduler;
    if (workers_[number].has_work || scheduler.is_busy()) {
      busy.push_back(number);
    } else if (!idle || scheduler.seen_live_count() < fewest) {
      idle = number;
      fewest = scheduler.seen_live_count();
    }
  }
  if (!idle) {
    for (const size_t number : busy) NoteAsked(number);
    return busy;
  }
  last_ = *idle;
  NoteAsked(*idle);
  return {*idle};
}

// REQUIRES: work waits.
void WorkerQueue::NoteAsked(size_t number) {
  const NodeLoop& worker = *loops_.workers()[number];
  workers_[number].is_asked = true;
  worker.turns->NoteBeginner(waiting_.front().group, worker.loop->Now());
}

void WorkerQueue::Ask(size_t number) {
  loops_.workers()[number]->loop->Post([this, number, alive = alive_] {
    if (*alive) Take(number);
  });
}

void WorkerQueue::Take(size_t number) {
  LoopTurns& turns = *loops_.workers()[number]->turns;
  if (turns.OwesTurn()) {
    turns.GiveTurn();
    return Ask(number);  // once the turn has been used
  }
  std::optional<Work> work;
  std::vector<size_t> chosen;
  {
    LeafLock lock(&mutex_);
    Worker& worker = workers_[number];
    worker.is_asked = false;
    turns.NoteNoBeginner();
    if (!waiting_.empty()) {
      work = std::move(waiting_.front().work);
      waiting_.pop_front();
      worker.has_work = true;
      if (!waiting_.empty()) chosen = Choose();
    }
  }
  for (const size_t other : chosen) Ask(other);
  if (!work) return turns.GiveTurn();
  const std::shared_ptr<std::atomic<bool>> alive = alive_;
  (*work)(*loops_.workers()[number]);
  if (!*alive) return;
  {
    LeafLock lock(&mutex_);
    workers_[number].has_work = false;
  }
  turns.GiveTurn();
}

}  // namespace neptune
