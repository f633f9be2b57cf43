// Shows the progress of long work on stderr: a bar with rate and time left on a terminal, plain
// lines elsewhere.
//
// Threads: Progress is thread-safe; RenderProgress is a pure function.
// Units: `unit` names what is counted; the clock returns nanoseconds of any monotonic clock.
// Limits: at most five updates a second on a terminal, one line in ten seconds elsewhere.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace search::tools {

using NanosecondClock = std::function<int64_t()>;

// The machine's monotonic clock, for use in mains.
int64_t MonotonicNanoseconds();

struct ProgressState {
  std::string_view label;
  std::string_view unit;
  uint64_t done = 0;
  uint64_t total = 0;  // 0: unknown
  double elapsed_s = 0;
  std::string_view note = {};  // appended to the line
};

// "reading [#####     ] 50 % 2,000/4,000 pages, 1,000/s, 2 s left". The bar is left out if
// `bar_width` is 0 or the total is unknown.
std::string RenderProgress(const ProgressState& state, int bar_width);

// 1234567 as "1,234,567".
std::string WithThousands(uint64_t number);

class Progress {
 public:
  struct Options {
    std::string label;
    std::string unit;
    uint64_t total = 0;
    // Output stream; null shows nothing. Default: null, so that libraries stay silent.
    FILE* out = nullptr;
    NanosecondClock clock;
    // Returns text appended to the line; called on any thread that counts. May be empty.
    std::function<std::string()> note = nullptr;
  };

  explicit Progress(Options options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Ends the line of the bar.
  ~Progress();

  // Counts `count` more units; shows the state if the last update is old enough.
  void Add(uint64_t count) ABSL_LOCKS_EXCLUDED(mutex_);
  // Shows the final state; further calls do nothing.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show(int64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const bool terminal_;
  const int64_t begin_;
  std::atomic<uint64_t> done_{0};
  std::atomic<int64_t> next_show_{0};
  absl::Mutex mutex_;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::tools
