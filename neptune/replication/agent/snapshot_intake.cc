#include "neptune/replication/agent/snapshot_intake.h"

namespace neptune {

Status SnapshotIntake::Take(const SnapshotChunk& chunk) {
  NEPTUNE_RETURN_IF_ERROR(CheckPlace(chunk));
  if (chunk_count_ == 0) {
    token_ = chunk.token;
    data_end_ = chunk.data_end;
  }
  NEPTUNE_RETURN_IF_ERROR(CheckEntries(chunk));
  if (!chunk.entries.empty()) {
    if (first_entry_ == 0) first_entry_ = chunk.entries.front().lsn;
    last_entry_ = chunk.entries.back().lsn;
  }
  has_all_data_ = chunk.has_all_data;
  if (chunk.mark) {
    NEPTUNE_RETURN_IF_ERROR(CheckMark(*chunk.mark));
    mark_ = chunk.mark;
  }
  ++chunk_count_;
  return OkStatus();
}

Status SnapshotIntake::CheckPlace(const SnapshotChunk& chunk) const {
  if (is_whole()) return DataLoss("a chunk after the last one");
  if (chunk.token == 0 || chunk.index != chunk_count_) {
    return DataLoss("chunk ", chunk.index, " given where ", chunk_count_, " was expected");
  }
  const bool is_same = chunk.token == token_ && chunk.data_end == data_end_;
  if (chunk_count_ > 0 && !is_same) return DataLoss("chunk ", chunk.index, " of another snapshot");
  if (!has_all_data_ || (chunk.piece.empty() && chunk.has_all_data)) return OkStatus();
  return DataLoss("data after their end");
}

Status SnapshotIntake::CheckEntries(const SnapshotChunk& chunk) const {
  if (chunk.entries.empty()) return OkStatus();
  Lsn next = chunk.entries.front().lsn;
  if (first_entry_ != 0) next = last_entry_ + 1;
  if (first_entry_ == 0 && is_ordered_) next = data_end_ + 1;
  for (const LogEntry& entry : chunk.entries) {
    if (entry.lsn != next) {
      return DataLoss("log entry ", entry.lsn, " given where ", next, " was expected");
    }
    ++next;
  }
  return OkStatus();
}

Status SnapshotIntake::CheckMark(const SnapshotMark& mark) const {
  if (mark.log.has_value() == is_ordered_) {
    return FailedPrecondition("the snapshot belongs to another consistency level");
  }
  const Lsn last = first_entry_ == 0 ? data_end_ : last_entry_;
  bool is_sound = mark.base.lsn == last;
  if (!is_ordered_) {
    const Lsn base = mark.log->base;
    const Lsn log_end = first_entry_ == 0 ? base : last_entry_;
    const bool follows = first_entry_ == 0 || first_entry_ == base + 1;
    is_sound = mark.base.lsn == data_end_ && follows && data_end_ >= base && data_end_ <= log_end;
  }
  return is_sound ? OkStatus() : DataLoss("its data do not match its log");
}

}  // namespace neptune
