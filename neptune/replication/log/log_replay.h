// Finds out what a node's log has, from the bytes of its segments.
//
// Batches have consecutive numbers, and each was written after its predecessor was synced. So bytes
// that form no valid batch are either the torn end of the last write, which was not acknowledged,
// or damage: a later batch, or the high-water mark, says that a batch was there.
//
// No I/O.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "neptune/replication/log/log_batch.h"
#include "neptune/replication/log/log_partition.h"
#include "neptune/replication/log/log_places.h"

namespace neptune {

using LogPartitions = std::map<uint32_t, LogPartition>;

class LogReplay {
 public:
  // Fills `partitions`, which is empty. The references must outlive this object.
  LogReplay(uint64_t salt, SegmentUse& use, LogPartitions& partitions)
      : salt_(salt), use_(use), partitions_(partitions) {}

  // Takes the segments in the order of their numbers.
  void TakeSegment(uint32_t segment, std::string_view bytes);
  // `synced`: the high-water mark, a batch that is known to have been synced; 0: not known.
  void End(uint64_t synced);

  struct LastBatch {
    uint64_t number = 0;  // 0: the log has no batch
    uint64_t checksum = 0;
    uint32_t segment = 0;
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  const LastBatch& last() const { return last_; }
  // The end of the last segment's batches; what follows is a torn end.
  uint64_t end() const { return end_; }
  // What is damaged, for people; empty: nothing.
  const std::string& damage() const { return damage_; }
  // True if a partition may have been lost with its name.
  bool may_lack_names() const { return may_lack_names_; }
  uint32_t largest_partition() const { return largest_partition_; }

 private:
  bool Take(const LogBatch& batch, uint32_t segment, uint64_t offset);
  bool Follows(const LogBatch& batch) const;
  void NoteHole(uint64_t first, uint64_t last);
  void Apply(const LogRecord& record, const LogBatch& batch, const LogPlace& place);

  const uint64_t salt_;
  SegmentUse& use_;
  LogPartitions& partitions_;
  LastBatch last_;
  uint64_t end_ = 0;
  std::string damage_;
  bool may_lack_names_ = false;
  uint32_t largest_partition_ = 0;
};

}  // namespace neptune
