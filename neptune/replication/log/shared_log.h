// The log of a node, which all its partitions share, as one process has it open.
//
//   Commit(changes of some partitions) ─► one batch ─► one write, one sync ─► index in memory
//
// Each partition has an identity, a state, and entries with consecutive LSNs; what they mean is up
// to RedoLog. A commit is atomic. All partitions whose changes come together share its sync.
//
// Open tells a torn end from damage. A partition of which it cannot be shown that nothing is lost
// is damaged, and stays so until its log is restarted; the others continue. README.md has the
// format and the rules.
//
// What is stored decays: Check reads it back. An entry that is lost makes its partition damaged
//   until that entry is dropped, or the log restarted. A segment in which something is damaged is
//   replaced (Mend), so that the next Open finds no hole.
//
// Space: a segment is removed once no log needs its entries. If most bytes of all segments are not
//   needed any more, commits also copy some entries of the oldest one to the newest, so that a
//   quiet partition does not keep the segments of the others.
//
// Source: [Alagappan18] (a damaged record is not a torn one, and must not be dropped silently).
// Threads: thread-safe. Open, Commit, Read, Check, CheckEntry, Mend and SyncMark block the kernel
//   thread.
// Errors: those of LogFiles. After an error of Commit the state on disk is unknown, and the log
//   must be opened again (broken()); kUnavailable until then.
// Limits: kLogBatchSizeMax bytes a commit; kLogEntryCountMax entries a partition.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/blocking_mutex.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/high_water_mark.h"
#include "neptune/replication/log/log_batch.h"
#include "neptune/replication/log/log_partition.h"
#include "neptune/replication/log/log_replay.h"
#include "neptune/replication/log/log_segments.h"

namespace neptune {

struct SharedLogOptions {
  // A segment is ended once it has this size. Larger: fewer files, more bytes that are not needed
  // any more. Default: 64 MiB.
  size_t segment_size = 64u << 20;
  // Random number for a new log, not 0; an existing one has its own.
  uint64_t new_salt = 1;
};

// A place in the segments.
struct LogSpot {
  uint32_t segment = 0;
  uint64_t offset = 0;
  friend auto operator<=>(const LogSpot&, const LogSpot&) = default;
};

// A change of one partition's log.
struct PartitionChange {
  uint32_t partition = 0;
  bool is_restart = false;  // drops all entries; a damaged log is no longer damaged
  Lsn drop_from = 0;        // drops the entries from here on; 0: none
  // The entries of the log after the change.
  Lsn first_lsn = 1;
  Lsn last_lsn = 0;
  std::string identity;              // empty: unchanged
  std::string state;                 // not empty
  Lsn entries_lsn = 0;               // of the first of `entries`
  std::vector<std::string> entries;  // sealed records, see sealed_record.h
};

class SharedLog {
 public:
  static StatusOr<std::shared_ptr<SharedLog>> Open(LogFiles& files,
                                                   const SharedLogOptions& options);
  ~SharedLog();

  // What the log has of a partition.
  struct Found {
    uint32_t partition = 0;
    bool is_new = false;  // nothing
    std::string identity;
    std::string state;
    Lsn first_lsn = 1;
    Lsn last_lsn = 0;
    Status damage;  // kDataLoss: some of it is lost, perhaps also identity and state
  };
  // Finds the partition of this name. A new one is stored with its first change.
  Found Attach(std::string_view name);

  // Stores the changes, of one or more partitions, atomically; they are durable once this returns
  // OK. Changes of one partition are applied in their order.
  // Errors: kInvalidArgument too large, nothing was written.
  Status Commit(const std::vector<PartitionChange>& changes);

  // Reads entries from `first` to at most `last` and size_max bytes, but at least one; none if the
  // log does not have `first`. Errors: kDataLoss an entry is lost.
  StatusOr<std::vector<std::string>> Read(uint32_t partition, Lsn first, Lsn last,
                                          size_t size_max) const;
  // Reads the entry back. False: it is lost, and missing from now on. True also if the disk cannot
  // read it, which may pass.
  bool CheckEntry(uint32_t partition, Lsn lsn);
  // Marks the partition's log as damaged: what was read is not what was written.
  void NoteDamage(uint32_t partition, const std::string& what);
  // What the partition has lost since the log was opened.
  struct Damage {
    Status status;      // kDataLoss: something
    Lsn last_lost = 0;  // the last lost entry; 0: not entries, or none
  };
  Damage DamageOf(uint32_t partition) const;

  // The end of what is synced.
  LogSpot end() const;
  struct Checked {
    size_t size = 0;     // bytes
    LogSpot next;        // where to go on
    std::string damage;  // what was found, for people; empty: nothing
  };
  // Reads back what is synced, from `from` on: batches of one segment with about size_max bytes,
  // but at least one. What has decayed is noted, see above. Errors: kUnavailable the disk cannot
  // read it, which may pass.
  StatusOr<Checked> Check(const LogSpot& from, size_t size_max);
  // Copies about size_max bytes of what is needed of segments that Check found damaged, and removes
  // those of which nothing is needed. False: there are none left.
  StatusOr<bool> Mend(size_t size_max);

  // Makes the high-water mark durable. To be called about every second.
  Status SyncMark();

  Status broken() const;

  struct Statistics {
    uint64_t batch_count = 0;
    uint64_t change_count = 0;
    uint64_t copied_count = 0;  // entries
    size_t segment_count = 0;
    uint64_t size = 0;       // of all segments
    uint64_t live_size = 0;  // of the entries that are needed
    // What Open found damaged; empty: nothing.
    std::string damage;
    // Entries and places found damaged since then.
    uint64_t damage_count = 0;
  };
  Statistics statistics() const;

 private:
  struct Draft;
  struct CopyPlan;
  struct CopyRun;

  SharedLog(std::unique_ptr<LogSegments> segments, HighWaterMark mark,
            const SharedLogOptions& options);
  Status Recover() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  Status BeginSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  Status WriteSummary() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  Draft MakeDraft() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void Add(const PartitionChange& change, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // Copies entries of about size_max bytes if there is much waste.
  void AddCopies(size_t size_max, Draft& draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void PlanCopies(uint32_t segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  CopyRun NextRun(size_t size_max) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void Copy(const CopyRun& run, Draft& draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  StatusOr<size_t> CheckBatch(const LogSegments::Extent& extent, uint64_t offset) const;
  // Something at or after the spot, in its segment, is damaged. Returns the count of lost entries.
  size_t NoteDecay(const LogSpot& spot);
  bool HasMuchWaste() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  // Writes and syncs the draft, and applies its records.
  Status Write(Draft& draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);
  void RemoveDeadSegments() ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mutex_);

  const SharedLogOptions options_;
  const std::unique_ptr<LogSegments> segments_;

  // Held while the log is written, which blocks. Acquired before index_mutex_.
  mutable BlockingMutex commit_mutex_;
  HighWaterMark mark_ ABSL_GUARDED_BY(commit_mutex_);
  uint64_t last_batch_ ABSL_GUARDED_BY(commit_mutex_) = 0;
  uint64_t last_checksum_ ABSL_GUARDED_BY(commit_mutex_) = 0;
  Status broken_ ABSL_GUARDED_BY(commit_mutex_);
  std::unique_ptr<CopyPlan> copies_ ABSL_GUARDED_BY(commit_mutex_);
  // Segments up to this one are to be replaced; 0: none.
  uint32_t decayed_through_ ABSL_GUARDED_BY(commit_mutex_) = 0;

  mutable LeafMutex index_mutex_;
  SegmentUse use_ ABSL_GUARDED_BY(index_mutex_);
  LogPartitions partitions_ ABSL_GUARDED_BY(index_mutex_);
  std::map<std::string, uint32_t, std::less<>> numbers_ ABSL_GUARDED_BY(index_mutex_);
  uint32_t largest_partition_ ABSL_GUARDED_BY(index_mutex_) = 0;
  bool may_lack_names_ ABSL_GUARDED_BY(index_mutex_) = false;
  Statistics statistics_ ABSL_GUARDED_BY(index_mutex_);
};

}  // namespace neptune
