// An asynchronous log file of lines, for access logs and spans.
//
//   any thread ─ Append ─► bounded buffer ─► user-level thread, each second ─ device call ─► PATH
//                              └ full: dropped, counted                  full: PATH.1, PATH.2, ...
//
// A crash of the process loses the lines of the last flush_every at most; a line is never
// truncated.
//
// Threads: Append runs on any thread and never waits; the rest runs on a user-level thread.
// Errors: Open: those of the file system. Later errors are logged once a minute; their lines are
//   lost and counted.
// Limits: pending_size_max buffered bytes; file_count_max files of file_size_max bytes; lines up to
//   age_max and a minute old, while the log is open and its file system knows when files were made.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

struct LineLogOptions {
  std::string path;
  // A full file is renamed to PATH.1, PATH.1 to PATH.2, and so on; the last is removed. Larger: a
  // longer history is kept.
  size_t file_size_max = size_t{64} << 20;
  int file_count_max = 4;
  // Lines are removed before they are older than this; 0: only when there are too many. A file is
  // renamed when it is a file_count_max-th of this old, full or not. Larger: a longer history is
  // kept. Default: 0.
  Duration age_max{0};
  size_t pending_size_max = size_t{4} << 20;
  Duration flush_every = std::chrono::seconds(1);
  // False: lines are lost instead of being written, e.g. while the disk is almost full. Null: they
  // are always written.
  std::function<bool()> may_write{};
};

class LineLog {
 public:
  // Opens the file for appending. REQUIRES: on a user-level thread; `stack` outlives the log.
  // Lines are counted in neptune_line_log_lines_total{log="NAME",outcome="written|lost"}.
  static StatusOr<std::unique_ptr<LineLog>> Open(const std::string& name, LineLogOptions options,
                                                 CapsuleStack& stack, MetricsRegistry& metrics);
  // REQUIRES: Close has returned, or the log's loop has stopped.
  ~LineLog();

  // Appends a line, given without its line break.
  void Append(std::string_view line);
  // Writes the pending lines and ends. REQUIRES: called once, on the loop on which the log was
  // opened.
  void Close();

 private:
  class File;
  LineLog(LineLogOptions options, CapsuleStack& stack, std::shared_ptr<File> file);

  void WriteUntilClosed();
  void Flush();
  // Removes what is too old, once a minute.
  void RemoveOld();
  bool has_ended() const;

  const LineLogOptions options_;
  CapsuleStack& stack_;
  const std::shared_ptr<File> file_;  // shared with a device call in progress
  Counter* written_ = nullptr;
  Counter* lost_ = nullptr;
  ThreadRef writer_;
  TimePoint complained_at_{};
  TimePoint age_at_{};  // when RemoveOld is due
  mutable LeafMutex mutex_;
  std::string pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  ThreadRef closer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
