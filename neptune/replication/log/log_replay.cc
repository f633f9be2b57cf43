#include "neptune/replication/log/log_replay.h"

#include <algorithm>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// The next place at or after `from` where a batch may begin, or the end.
size_t FindMagic(std::string_view bytes, size_t from) {
  std::string magic;
  ByteWriter(&magic).Number(kLogBatchMagic);
  return std::min(bytes.find(magic, from), bytes.size());
}

// The batch's records; false: malformed or impossible.
bool ReadPossible(const LogBatch& batch, std::vector<LogRecord>* records) {
  bool are_possible = true;
  const bool is_read = ReadLogRecords(batch.records, [&](const LogRecord& record) {
    are_possible = are_possible && IsPossible(record);
    records->push_back(record);
  });
  return is_read && are_possible;
}

}  // namespace

void LogReplay::TakeSegment(uint32_t segment, std::string_view bytes) {
  end_ = 0;
  for (size_t at = 0; at < bytes.size();) {
    const std::optional<LogBatch> batch = ReadLogBatch(salt_, bytes.substr(at));
    if (batch && Take(*batch, segment, at)) {
      at += batch->size();
      end_ = at;
    } else {
      at = FindMagic(bytes, at + 1);
    }
  }
}

bool LogReplay::Follows(const LogBatch& batch) const {
  if (last_.number == 0) return batch.number > 0;
  if (batch.number <= last_.number) return false;
  return batch.number > last_.number + 1 || batch.previous_checksum == last_.checksum;
}

bool LogReplay::Take(const LogBatch& batch, uint32_t segment, uint64_t offset) {
  std::vector<LogRecord> records;
  if (!Follows(batch) || !ReadPossible(batch, &records)) return false;
  const bool begins_segment = !records.empty() && records[0].kind == LogRecordKind::kSegment;
  const bool is_oldest = last_.number == 0 && begins_segment;
  if (batch.number != last_.number + 1 && !is_oldest) NoteHole(last_.number + 1, batch.number - 1);
  for (const LogRecord& record : records) {
    if (record.kind == LogRecordKind::kSegment) continue;
    Apply(record, batch, {segment, static_cast<uint32_t>(offset), 0});
  }
  if (begins_segment) may_lack_names_ = false;
  last_ = {batch.number, batch.checksum, segment, static_cast<uint32_t>(offset),
           static_cast<uint32_t>(batch.size())};
  return true;
}

void LogReplay::Apply(const LogRecord& record, const LogBatch& batch, const LogPlace& place) {
  largest_partition_ = std::max(largest_partition_, record.partition);
  std::vector<LogPlace> places;
  for (const std::string_view entry : record.entries) {
    const auto within = static_cast<uint32_t>(entry.data() - batch.records.data());
    places.push_back({place.segment,
                      place.offset + static_cast<uint32_t>(kLogBatchHeaderSize) + within,
                      static_cast<uint32_t>(entry.size())});
  }
  partitions_.try_emplace(record.partition, use_).first->second.Apply(record, batch.number, places);
}

void LogReplay::NoteHole(uint64_t first, uint64_t last) {
  StrAppend(&damage_, damage_.empty() ? "" : ", ", "batches ", first, " to ", last,
            " of the node's log are damaged");
  may_lack_names_ = true;
  for (auto& [number, partition] : partitions_) partition.NoteHole();
}

void LogReplay::End(uint64_t synced) {
  if (synced > last_.number) NoteHole(last_.number + 1, synced);
  const std::string holes = damage_.empty() ? "its entries are gone" : damage_;
  for (auto partition = partitions_.begin(); partition != partitions_.end();) {
    partition->second.EndReplay(holes);
    if (!partition->second.name().empty()) {
      ++partition;
      continue;
    }
    may_lack_names_ = true;
    partition->second.Clear();
    partition = partitions_.erase(partition);
  }
}

}  // namespace neptune
