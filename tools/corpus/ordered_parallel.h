// Produces values on several threads and consumes them in order on the calling thread.
//
// Threads: `make` runs on the worker threads, once for each index; `take` runs on the calling
//   thread only.
// Limits: at most `window` values are produced ahead of the one being consumed.

#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "neptune/base/status.h"

namespace search::tools {

template <typename Value>
class OrderedParallel {
 public:
  using Make = std::function<Value(size_t index)>;
  using Take = std::function<neptune::Status(size_t index, Value value)>;

  OrderedParallel(size_t count, size_t window) : count_(count), slots_(window) {}

  // Consumes the values of all indexes, or stops at the first error of `take` and returns it.
  neptune::Status Run(int thread_count, const Make& make, const Take& take) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < thread_count; ++i) {
      threads.emplace_back([this, &make] { MakeAll(make); });
    }
    neptune::Status status;
    for (size_t index = 0; index < count_ && status.ok(); ++index) {
      status = take(index, WaitFor(index));
    }
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    return status;
  }

 private:
  struct Slot {
    bool ready = false;
    Value value{};
  };

  void MakeAll(const Make& make) {
    size_t index = 0;
    while (Claim(&index)) {
      Value value = make(index);
      absl::MutexLock lock(&mutex_);
      slots_[index % slots_.size()] = {true, std::move(value)};
    }
  }

  bool Claim(size_t* index) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto may_go_on = [this] {
      mutex_.AssertHeld();
      return stopped_ || next_made_ == count_ || next_made_ < next_taken_ + slots_.size();
    };
    mutex_.Await(absl::Condition(&may_go_on));
    if (stopped_ || next_made_ == count_) return false;
    *index = next_made_++;
    return true;
  }

  Value WaitFor(size_t index) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    Slot& slot = slots_[index % slots_.size()];
    mutex_.Await(absl::Condition(&slot.ready));
    slot.ready = false;
    next_taken_ = index + 1;
    return std::move(slot.value);
  }

  const size_t count_;
  absl::Mutex mutex_;
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  size_t next_made_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t next_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::tools
