// The part of SharedLog that finds what has decayed.

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"
#include "neptune/replication/log/shared_log.h"

namespace neptune {

LogSpot SharedLog::end() const {
  const std::optional<LogSegments::Extent> newest = segments_->ExtentFrom(segments_->newest());
  return newest ? LogSpot{newest->segment, newest->size} : LogSpot();
}

StatusOr<SharedLog::Checked> SharedLog::Check(const LogSpot& from, size_t size_max) {
  Checked checked;
  const std::optional<LogSegments::Extent> extent = segments_->ExtentFrom(from.segment);
  checked.next = {from.segment + 1, 0};
  if (!extent) return checked;
  uint64_t offset = extent->segment == from.segment ? from.offset : 0;
  while (offset < extent->size && checked.size < size_max) {
    NEPTUNE_ASSIGN_OR_RETURN(const size_t size, CheckBatch(*extent, offset));
    if (size == 0) {
      const size_t lost = NoteDecay({extent->segment, offset});
      checked.damage = StrCat("segment ", extent->segment, " of the node's log is damaged at byte ",
                              offset, ": ", lost, " entries are lost");
      break;
    }
    checked.size += size;
    offset += size;
  }
  const bool goes_on = checked.damage.empty() && offset < extent->size;
  checked.next = goes_on ? LogSpot{extent->segment, offset} : LogSpot{extent->segment + 1, 0};
  return checked;
}

// The size of the sound batch there; 0: there is none.
StatusOr<size_t> SharedLog::CheckBatch(const LogSegments::Extent& extent, uint64_t offset) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string header,
                           extent.file->ReadAt(offset, kLogBatchHeaderSize));
  const std::optional<size_t> size = SizeOfLogBatch(header);
  if (!size || *size > extent.size - offset) return size_t{0};
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, extent.file->ReadAt(offset, *size));
  return ReadLogBatch(segments_->salt(), bytes) ? *size : 0;
}

size_t SharedLog::NoteDecay(const LogSpot& spot) {
  {
    BlockingLock lock(&commit_mutex_);
    decayed_through_ = std::max(decayed_through_, spot.segment);
  }
  std::vector<std::pair<uint32_t, Lsn>> suspects;
  {
    LeafLock lock(&index_mutex_);
    ++statistics_.damage_count;
    for (const auto& [number, partition] : partitions_) {
      const LogPlaces& places = partition.places();
      for (Lsn lsn = places.first_lsn(); lsn <= places.last_lsn(); ++lsn) {
        const LogPlace& place = places.at(lsn);
        const bool is_after = place.segment == spot.segment && place.offset >= spot.offset;
        if (is_after && !place.is_missing()) suspects.emplace_back(number, lsn);
      }
    }
  }
  size_t lost = 0;
  for (const auto& [partition, lsn] : suspects) lost += CheckEntry(partition, lsn) ? 0 : 1;
  return lost;
}

bool SharedLog::CheckEntry(uint32_t partition, Lsn lsn) {
  LogPlace place;
  {
    LeafLock lock(&index_mutex_);
    const LogPlaces& places = partitions_.at(partition).places();
    if (!places.Holds(lsn) || places.at(lsn).is_missing()) return true;  // dropped, or known
    place = places.at(lsn);
  }
  const StatusOr<std::string> bytes = ReadPlace(segments_->FileOf(place.segment).get(), place);
  const bool is_unreadable = !bytes.ok() && bytes.status().code() != StatusCode::kDataLoss;
  if (is_unreadable) return true;  // it may be readable later
  const Status status = bytes.ok() ? Unsealed(*bytes, "the entry").status() : bytes.status();
  if (status.ok()) return true;
  LeafLock lock(&index_mutex_);
  LogPartition& log = partitions_.at(partition);
  if (!log.places().Holds(lsn) || log.places().at(lsn) != place) return true;  // replaced meanwhile
  log.Lose(lsn, StrCat("entry ", lsn, ": ", ToStd(status.message())));
  ++statistics_.damage_count;
  return false;
}

}  // namespace neptune
