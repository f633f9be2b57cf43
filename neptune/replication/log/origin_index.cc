#include "neptune/replication/log/origin_index.h"

#include <algorithm>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {

uint64_t CountOf(const OriginCounts& counts, const Origin& origin) {
  const auto found = counts.find(origin);
  return found == counts.end() ? 0 : found->second;
}

bool Covers(const OriginCounts& counts, const OriginCounts& others) {
  return std::all_of(others.begin(), others.end(), [&counts](const auto& other) {
    return CountOf(counts, other.first) >= other.second;
  });
}

std::string EncodeOriginCounts(const OriginCounts& counts) {
  std::string bytes;
  ByteWriter out(&bytes);
  for (const auto& [origin, count] : counts) {
    out.Number(origin);
    out.Number(count);
  }
  return bytes;
}

StatusOr<OriginCounts> DecodeOriginCounts(std::string_view bytes) {
  OriginCounts counts;
  ByteReader in(bytes);
  while (in.remaining() > 0 && counts.size() <= kOriginCountMax) {
    const Origin origin = in.Number<uint64_t>();
    const uint64_t count = in.Number<uint64_t>();
    const bool is_next = counts.empty() || counts.rbegin()->first < origin;
    if (in.failed() || !is_next || count > kLsnMax) {
      return DataLoss(bytes.size(), " bytes are not origin counts");
    }
    counts[origin] = count;
  }
  if (counts.size() <= kOriginCountMax) return counts;
  return DataLoss("more than ", kOriginCountMax, " origins");
}

Status OriginIndex::Append(const LogEntry& entry) {
  if (entry.lsn != last_lsn_ + 1) {
    return DataLoss("log entry ", entry.lsn, " does not follow ", last_lsn_);
  }
  if (entry.kind == EntryKind::kCommutativeWrite) {
    NEPTUNE_RETURN_IF_ERROR(AppendWrite(entry));
  } else if (entry.kind == EntryKind::kOrigins) {
    NEPTUNE_RETURN_IF_ERROR(AppendCounts(entry));
  } else {
    return DataLoss("log entry ", entry.lsn, " belongs to another consistency level");
  }
  last_lsn_ = entry.lsn;
  return OkStatus();
}

Status OriginIndex::AppendWrite(const LogEntry& entry) {
  const Origin origin = entry.origin.life;
  const uint64_t number = entry.origin.number;
  const bool is_new = !origins_.contains(origin);
  // Before an entry with counts, an origin's first write implies how many of its writes were
  // dropped.
  const uint64_t dropped = is_new && !is_whole_ && number > 0 ? number - 1 : 0;
  if (number != (is_new ? dropped : origins_[origin].count()) + 1) {
    return DataLoss("log entry ", entry.lsn, " is write ", number, " of an origin with ",
                    CountOf(origin), " so far");
  }
  if (is_new && origins_.size() == kOriginCountMax) {
    return ResourceExhausted("log entry ", entry.lsn, " exceeds the maximum number of origins");
  }
  Writes& writes = origins_[origin];
  if (is_new) writes.dropped = dropped;
  writes.lsns.push_back(entry.lsn);
  return OkStatus();
}

Status OriginIndex::AppendCounts(const LogEntry& entry) {
  NEPTUNE_ASSIGN_OR_RETURN(const OriginCounts counts, DecodeOriginCounts(entry.payload));
  for (const auto& [origin, count] : counts) {
    const auto [found, is_new] = origins_.try_emplace(origin);
    if (is_new) found->second.dropped = count;
    if (found->second.count() != count) {
      return DataLoss("log entry ", entry.lsn, " counts ", count, " writes of an origin with ",
                      found->second.count());
    }
  }
  counts_lsn_ = entry.lsn;
  is_whole_ = true;
  return OkStatus();
}

void OriginIndex::DropBefore(Lsn first) {
  for (auto& [origin, writes] : origins_) {
    while (!writes.lsns.empty() && writes.lsns.front() < first) {
      writes.lsns.pop_front();
      ++writes.dropped;
    }
  }
}

void OriginIndex::Restart(Lsn base, const OriginCounts& counts) {
  origins_.clear();
  for (const auto& [origin, count] : counts) origins_[origin].dropped = count;
  last_lsn_ = base;
  counts_lsn_ = 0;
  is_whole_ = true;
}

OriginCounts OriginIndex::counts() const { return CountsAt(last_lsn_); }

OriginCounts OriginIndex::CountsAt(Lsn lsn) const {
  OriginCounts counts;
  for (const auto& [origin, writes] : origins_) {
    const auto after = std::upper_bound(writes.lsns.begin(), writes.lsns.end(), lsn);
    const uint64_t count = writes.dropped + static_cast<uint64_t>(after - writes.lsns.begin());
    if (count > 0) counts[origin] = count;
  }
  return counts;
}

uint64_t OriginIndex::CountOf(const Origin& origin) const {
  const auto found = origins_.find(origin);
  return found == origins_.end() ? 0 : found->second.count();
}

std::optional<Lsn> OriginIndex::LsnOf(const Origin& origin, uint64_t number) const {
  const auto found = origins_.find(origin);
  if (found == origins_.end()) return std::nullopt;
  const Writes& writes = found->second;
  if (number <= writes.dropped || number > writes.count()) return std::nullopt;
  return writes.lsns[number - writes.dropped - 1];
}

bool OriginIndex::HasDroppedBeyond(const OriginCounts& counts) const {
  return std::any_of(origins_.begin(), origins_.end(), [&counts](const auto& known) {
    return neptune::CountOf(counts, known.first) < known.second.dropped;
  });
}

}  // namespace neptune
