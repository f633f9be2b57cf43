// A file of lines that nobody waits for: access logs, spans.
//
//   any thread ── Append ──► pending, bounded ──► a user-level thread, once a second ── device call ──► PATH
//                                 └ full: dropped, counted                                  full: PATH.1, PATH.2, ...
//
// A crash of the process loses what was not yet written, at most flush_every of it; lines are never cut.
//
// Threads: Append from any thread, and never waits; the rest on a user-level thread.
// Errors: of Open, those of the file system. Later ones are logged, once a minute, and their lines are lost and counted.
// Limits: pending_size_max bytes wait; file_count_max files of file_size_max bytes.

#pragma once

#include <cstdint>
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
  // A full file is renamed to PATH.1, that to PATH.2, and so on; the last is removed. Larger: less is lost.
  size_t file_size_max = size_t{64} << 20;
  int file_count_max = 4;
  size_t pending_size_max = size_t{4} << 20;
  Duration flush_every = std::chrono::seconds(1);
};

class LineLog {
 public:
  // Appends to what the file has. REQUIRES: on a user-level thread; `stack` outlives the log.
  // neptune_line_log_lines_total{log="NAME",outcome="written|lost"} are counted.
  static StatusOr<std::unique_ptr<LineLog>> Open(const std::string& name, LineLogOptions options,
                                                 CapsuleStack& stack, MetricsRegistry& metrics);
  // REQUIRES: Close has returned, or its loop runs no more.
  ~LineLog();

  // A line without its line break.
  void Append(std::string_view line);
  // Writes what is pending and ends. Once, on the loop on which it was opened.
  void Close();

 private:
  class File;
  LineLog(LineLogOptions options, CapsuleStack& stack, std::shared_ptr<File> file);

  void WriteUntilClosed();
  void Flush();
  bool has_ended() const;

  const LineLogOptions options_;
  CapsuleStack& stack_;
  const std::shared_ptr<File> file_;  // shared with a call that is under way
  Counter* written_ = nullptr;
  Counter* lost_ = nullptr;
  ThreadRef writer_;
  TimePoint complained_at_{};
  mutable LeafMutex mutex_;
  std::string pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  ThreadRef closer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
