// The files of a node's log: segments with consecutive numbers, the newest of which is written.
//
//   SALT-NUMBER ...       segments, both in hexadecimal digits
//   SALT-mark             the high-water mark
//
// Threads: Read from any thread, while one thread at a time calls the others. All calls block.
// Errors: those of LogFiles; kFailedPrecondition the folder has the files of two logs.
// Limits: one open file for each segment.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/log_places.h"
#include "neptune/world/log_files.h"

namespace neptune {

// Reads the bytes of a place, or of several that follow each other, from the segment's file.
// Errors: kDataLoss they are not there; kUnavailable the disk cannot read them.
StatusOr<std::string> ReadPlace(const LogFile* file, const LogPlace& place);

class LogSegments {
 public:
  // Opens the segments that exist. `new_salt` becomes the salt of a new log.
  static StatusOr<std::unique_ptr<LogSegments>> Open(LogFiles& files, uint64_t new_salt);

  uint64_t salt() const { return salt_; }
  std::string mark_name() const;

  // Calls `visitor` with the bytes of each segment, in order. Bytes that cannot be read are zeros;
  // `unreadable_size` counts them.
  Status Load(const std::function<void(uint32_t segment, std::string_view bytes)>& visitor,
              uint64_t* unreadable_size);

  bool empty() const;
  size_t count() const;
  uint32_t oldest() const;
  uint32_t newest() const;
  // Bytes of the newest segment, and of all.
  uint64_t newest_size() const;
  uint64_t size() const;

  // Begins a new segment.
  Status Begin();
  // Appends to the newest segment and syncs it. Returns where the bytes are. After an error the
  // segments must be opened again.
  StatusOr<LogPlace> Append(std::string_view bytes);
  // Writes bytes of the segment again, cuts it at `end` if it is the newest, and syncs it: they may
  // have been read although they were never synced.
  Status Renew(const LogPlace& place, uint64_t end);
  Status RemoveOldest();

  // A segment with the bytes of it that are synced.
  struct Extent {
    uint32_t segment = 0;
    uint64_t size = 0;
    std::shared_ptr<LogFile> file;
  };
  // The first segment with this number or a larger one; nullopt: there is none.
  std::optional<Extent> ExtentFrom(uint32_t segment) const;
  // The segment's file, which can be read as long as the caller holds it; null: there is none.
  std::shared_ptr<LogFile> FileOf(uint32_t segment) const { return Find(segment).file; }

 private:
  struct Segment {
    std::shared_ptr<LogFile> file;
    uint64_t size = 0;
  };
  explicit LogSegments(LogFiles& files) : files_(files) {}
  Status OpenFound(uint64_t new_salt);
  std::string NameOf(uint32_t segment) const;
  Status Add(uint32_t segment);
  StatusOr<std::string> ReadAround(const Segment& segment, uint64_t* unreadable_size) const;
  Segment Find(uint32_t segment) const;

  LogFiles& files_;
  uint64_t salt_ = 0;
  mutable LeafMutex mutex_;
  std::map<uint32_t, Segment> segments_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
