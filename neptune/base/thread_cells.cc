#include "neptune/base/thread_cells.h"

#include <bitset>

#include "neptune/base/leaf_mutex.h"

namespace neptune {
namespace {

// Numbers are handed from thread to thread under the mutex, so what an earlier owner wrote happens
// before what the next one does.
class Numbers {
 public:
  size_t Take() {
    LeafLock lock(&mutex_);
    for (size_t number = 0; number < taken_.size(); ++number) {
      if (taken_[number]) continue;
      taken_[number] = true;
      return number;
    }
    return kThreadNumberCount;
  }
  void GiveBack(size_t number) {
    LeafLock lock(&mutex_);
    if (number < taken_.size()) taken_[number] = false;
  }

 private:
  LeafMutex mutex_;
  std::bitset<kThreadNumberCount> taken_ ABSL_GUARDED_BY(mutex_);
};

// Never destroyed, because threads may end after static objects are.
Numbers& AllNumbers() {
  static Numbers& numbers = *new Numbers();
  return numbers;
}

using thread_cells_internal::thread_number;

struct NumberOfThread {
  NumberOfThread() { thread_number = AllNumbers().Take(); }
  // What runs in the thread after this shares cells.
  ~NumberOfThread() {
    AllNumbers().GiveBack(thread_number);
    thread_number = kThreadNumberCount;
  }
};

}  // namespace

namespace thread_cells_internal {

constinit thread_local size_t thread_number = kNoNumber;

size_t TakeThreadNumber() {
  static thread_local const NumberOfThread number;
  (void)number;
  return thread_number;
}

}  // namespace thread_cells_internal

ThreadCells::ThreadCells(size_t cell_count)
    : line_count_((cell_count + kLineCellCount - 1) / kLineCellCount) {}

ThreadCells::~ThreadCells() {
  for (const auto& block : blocks_) delete[] block.load(std::memory_order_acquire);
}

// The shared block may be made by several threads at once.
ThreadCells::Line* ThreadCells::MakeBlock(size_t thread) {
  Line* const made = new Line[line_count_];
  Line* present = nullptr;
  if (blocks_[thread].compare_exchange_strong(present, made, std::memory_order_acq_rel)) {
    return made;
  }
  delete[] made;
  return present;
}

uint64_t ThreadCells::Sum(size_t cell) const {
  uint64_t sum = 0;
  for (const auto& one : blocks_) {
    const Line* const block = one.load(std::memory_order_acquire);
    if (block == nullptr) continue;
    sum +=
        block[cell / kLineCellCount].cells[cell % kLineCellCount].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace neptune
