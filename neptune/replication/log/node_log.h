// The log of a node: opens the shared log when it is first needed, and again after an error.
//
// Opening reads everything, and all partitions of a node whose disk is full try it repeatedly. So
// after an error it is read only once the disk has taken a test write.
//
// Threads: thread-safe. Attach and SyncMark block the kernel thread.
// Errors: those of SharedLog::Open.

#pragma once

#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "neptune/base/blocking_mutex.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/shared_log.h"
#include "neptune/world/log_files.h"

namespace neptune {

class NodeLog {
 public:
  // `files` must outlive this object and all logs that it returned.
  explicit NodeLog(LogFiles& files, const SharedLogOptions& options = {})
      : files_(files), options_(options) {}

  // A partition's part of the log. It can be used until the log breaks; others then attach to a log
  // that was opened again, while this one only reads.
  struct Attached {
    std::shared_ptr<SharedLog> log;
    SharedLog::Found found;
  };
  StatusOr<Attached> Attach(std::string_view name);

  // The log that is open; null: none yet.
  std::shared_ptr<SharedLog> current() const;
  // See SharedLog; OK if it is not open.
  Status SyncMark();
  SharedLog::Statistics statistics() const;

 private:
  StatusOr<std::shared_ptr<SharedLog>> Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(opening_mutex_);
  // OK if the disk takes writes.
  Status Prove();

  LogFiles& files_;
  const SharedLogOptions options_;
  BlockingMutex opening_mutex_;  // held while the log is opened, which blocks
  // An error was met, and the log has not been opened since.
  bool has_failed_ ABSL_GUARDED_BY(opening_mutex_) = false;
  mutable LeafMutex mutex_;
  std::shared_ptr<SharedLog> log_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
