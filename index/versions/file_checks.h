// Reads the files of open partitions back, slowly and in turn, and compares their checksums: what
// decays in memory or on a disk changes no time of change, and is noticed in no other way.
//
//   due ─► first partition ─► part, part, ... ─► next partition ─► ... ─► end
//    ▲                          │ damage: reported; the rest of the partition is left out
//    └── `interval` after the pass began, or at its end if that is later
//
// Threads: thread-safe. Parts are read one at a time on the loop's thread, and block it.
// Limits: kFileCheckPartSize bytes a read, kFileCheckBytesPerSecond, so a pass over a gigabyte
//   takes four minutes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace search::index {

inline constexpr size_t kFileCheckPartSize = 256u << 10;
inline constexpr size_t kFileCheckBytesPerSecond = 4u << 20;
// Begin of the first pass, or the interval if that is shorter. A node that has just started has
// read its files anyway, since opening compares all checksums.
inline constexpr neptune::Duration kFileCheckFirst = std::chrono::minutes(5);

class FileChecks : public std::enable_shared_from_this<FileChecks> {
 public:
  // Reads the next part of a partition's files, about as many bytes as it is passed. Returns how
  // many it read; 0: it has read all. Errors: DATA_LOSS.
  using Check = std::function<neptune::StatusOr<size_t>(size_t size)>;
  struct Place {
    // Empty result: the partition is gone, or has no files that are checked in this way.
    std::function<Check()> start;
    std::function<void(const neptune::Status& damage)> on_damage;
  };
  struct Standing {
    uint64_t checked_size = 0;  // of all passes
    uint64_t pass_count = 0;    // that ended
    uint64_t damage_count = 0;
  };

  // `places` lists the open partitions at the beginning of a pass. The loop outlives all parts.
  // REQUIRES: interval > 0.
  static std::shared_ptr<FileChecks> Start(neptune::Loop& loop, neptune::Duration interval,
                                           std::function<std::vector<Place>()> places);
  // Waits for the part that is being read; no function is called afterwards. Idempotent.
  void Stop();
  Standing standing() const;

 private:
  FileChecks(neptune::Loop& loop, neptune::Duration interval,
             std::function<std::vector<Place>()> places)
      : loop_(loop), interval_(interval), list_(std::move(places)) {}

  void RunAt(neptune::TimePoint when);
  void Turn();
  // Reads a part of the first place. Returns its size.
  size_t ReadPart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  neptune::Loop& loop_;
  const neptune::Duration interval_;
  neptune::LeafMutex mutex_;  // held while a part is read
  std::function<std::vector<Place>()> list_ ABSL_GUARDED_BY(mutex_);
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  neptune::TimePoint began_at_ ABSL_GUARDED_BY(mutex_){};
  std::deque<Place> places_ ABSL_GUARDED_BY(mutex_);  // of this pass, the first one being checked
  Check check_ ABSL_GUARDED_BY(mutex_);               // of the first place; empty: not begun

  mutable neptune::LeafMutex standing_mutex_;
  Standing standing_ ABSL_GUARDED_BY(standing_mutex_);
};

}  // namespace search::index
