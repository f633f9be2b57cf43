// Log lines on their way to a descriptor: a bounded queue and the one thread that writes it.
//
//   any thread ─ Append ─► queue, at most size_max bytes ─► thread "log" ─► descriptor
//                             └ full: dropped and counted; "N log lines were dropped" in their place
//
// A pipe that is not read, or a disk that does not answer, stops the writing thread and no other.
// Lines keep the order in which they were appended; the line that reports dropped ones stands where
// they are missing.
//
// Threads: thread-safe. Append waits for no descriptor.
// Errors: lines that the descriptor refuses (closed pipe, full disk) are counted as dropped.
// Limits: size_max bytes of waiting lines; a line is cut after kLogLineSizeMax bytes.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "neptune/base/blocking_mutex.h"
#include "neptune/base/time.h"

namespace google::base {
class Logger;
}  // namespace google::base

namespace neptune {

inline constexpr size_t kLogLineSizeMax = 64 * 1024;

struct BackgroundLogOptions {
  int descriptor = 2;  // stays open; not owned
  // Larger: longer bursts are kept while the reader is slow, more memory. Default: 1 MiB, some
  // 8,000 lines.
  size_t size_max = size_t{1} << 20;
  // Maximum time that the destructor waits until the lines are written. Default: 1 s.
  Duration flush_max = std::chrono::seconds(1);
};

class BackgroundLog {
 public:
  explicit BackgroundLog(const BackgroundLogOptions& options);
  // Writes what is waiting, for at most flush_max; what is left is lost.
  ~BackgroundLog();
  BackgroundLog(const BackgroundLog&) = delete;
  BackgroundLog& operator=(const BackgroundLog&) = delete;

  // Appends a line, given without its line break.
  void Append(std::string_view line);
  // Waits until everything appended before is written, for at most `limit`; false: it is not.
  bool Flush(Duration limit);
  // Lines that were dropped since the start.
  int64_t dropped_count() const { return dropped_count_.load(std::memory_order_relaxed); }

 private:
  bool has_work() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !lines_.empty() || unreported_count_ > 0;
  }
  void ReportDropped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes some lines from the queue.
  std::string TakeSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteUntilStopped();
  // Returns false if the log is to end before all is written, or the descriptor refuses.
  bool WriteAll(std::string_view bytes) const;

  const BackgroundLogOptions options_;
  std::atomic<int64_t> dropped_count_{0};
  std::atomic<bool> gives_up_{false};  // what is not written by now is lost
  mutable BlockingMutex mutex_;
  BlockingCondition changed_;  // something is to be written, or all is
  std::deque<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t unreported_count_ ABSL_GUARDED_BY(mutex_) = 0;  // dropped since the last line
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread writer_;
};

// While it lives, glog's messages of this process go to a BackgroundLog over standard error instead
// of being written by the threads that log them. A fatal message, of LOG(FATAL) or CHECK, is
// flushed for at most flush_max before the process ends; if standard error takes nothing more by
// then, it is replaced by /dev/null, so that the process does end.
//
// REQUIRES: glog is initialised; at most one lives at a time.
class LogsInBackground {
 public:
  explicit LogsInBackground(const BackgroundLogOptions& options = {});
  ~LogsInBackground();
  LogsInBackground(const LogsInBackground&) = delete;
  LogsInBackground& operator=(const LogsInBackground&) = delete;

  int64_t dropped_count() const { return log_->dropped_count(); }

 private:
  class Sink;
  const std::unique_ptr<BackgroundLog> log_;
  google::base::Logger* usual_ = nullptr;
  const bool logged_to_stderr_;
  const int stderr_threshold_;
};

}  // namespace neptune
