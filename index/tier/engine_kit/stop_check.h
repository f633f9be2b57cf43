// Polls a stop function at the first and every kStopInterval-th step of an evaluation; once true,
// the result stays true.
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

  // Call at each step.
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
