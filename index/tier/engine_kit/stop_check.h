// Calls a stop function at every kStopInterval-th step of an evaluation, starting with the first;
// once it has returned true, the result stays true.
//
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <functional>

namespace search::index {

class StopCheck {
 public:
  // `stop` must outlive it and may be empty.
  explicit StopCheck(const std::function<bool()>& stop) : stop_(stop) {}

  // Call it at each step; returns true if the evaluation must end.
  bool Stops() {
    if (!stopped_ && stop_ && step_count_++ % kStopInterval == 0) stopped_ = stop_();
    return stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  static constexpr uint32_t kStopInterval = 64;

  const std::function<bool()>& stop_;
  uint32_t step_count_ = 0;
  bool stopped_ = false;
};

}  // namespace search::index
