#include "neptune/examples/client/outcomes.h"

#include <algorithm>
#include <cstdio>

namespace neptune::examples {

void Outcomes::Note(const Status& status, const Data& answer, Duration took) {
  if (status.ok()) {
    times_ms_.push_back(ToMillis(took));
    answer_ = answer.bytes();
  } else {
    ++failures_[status.ToString()];
  }
}

void Outcomes::Print(const char* what) {
  std::sort(times_ms_.begin(), times_ms_.end());
  std::printf("%s: %zu answered", what, times_ms_.size());
  if (!times_ms_.empty()) {
    std::printf(", median %.2f ms, slowest %.2f ms; one of them: %s",
                times_ms_[times_ms_.size() / 2], times_ms_.back(), answer_.c_str());
  }
  std::printf("\n");
  for (const auto& [reason, count] : failures_) {
    std::printf("  %d failed: %s\n", count, reason.c_str());
  }
}

}  // namespace neptune::examples
