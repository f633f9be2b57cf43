// Descriptors kept open for a listener, so that it can accept when the process has no others left;
// internal to world/real.
//
// Threads: the loop of its listener only.
// Limits: `count` descriptors.

#pragma once

#include <fcntl.h>

#include <cstddef>
#include <vector>

#include "neptune/base/descriptor.h"

namespace neptune {

class SpareDescriptors {
 public:
  explicit SpareDescriptors(int count) : count_(static_cast<size_t>(count)) { Refill(); }

  // Opens those that are missing; false: the process still has too few.
  bool Refill() {
    while (open_.size() < count_) {
      Descriptor spare(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!spare.open()) return false;
      open_.push_back(std::move(spare));
    }
    return true;
  }
  // Closes one, whose number the next accept gets unless another thread is faster; false: none is
  // left.
  bool ReleaseOne() {
    if (open_.empty()) return false;
    open_.pop_back();
    return true;
  }
  bool empty() const { return open_.empty(); }

 private:
  const size_t count_;
  std::vector<Descriptor> open_;
};

}  // namespace neptune
