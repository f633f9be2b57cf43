#include "tools/lab/aggregation/waiting_thread.h"

#include <utility>

namespace search::lab {

void WaitingThread::OnLocalServed() {
  if (has_thread_.exchange(true)) return;
  {
    neptune::LeafLock lock(&mutex_);
    thread_ = neptune::ThreadRef(neptune::UserThread::Current());
  }
  while (!closed_) {
    if (auto reduction = Next()) {
      (*reduction)();
    } else if (neptune::this_thread::Park() == neptune::ParkResult::kStopping) {
      return;
    }
  }
}

void WaitingThread::Run(neptune::Task reduction) {
  neptune::LeafLock lock(&mutex_);
  reduction_ = std::move(reduction);
  Wake();
}

void WaitingThread::Close() {
  closed_ = true;
  neptune::LeafLock lock(&mutex_);
  Wake();
}

void WaitingThread::Wake() {
  if (thread_) thread_->Wake();
}

std::optional<neptune::Task> WaitingThread::Next() {
  neptune::LeafLock lock(&mutex_);
  return std::exchange(reduction_, std::nullopt);
}

std::shared_ptr<neptune::ReductionPlace> MakeWaitingThread() {
  return std::make_shared<WaitingThread>();
}

}  // namespace search::lab
