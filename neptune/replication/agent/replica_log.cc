#include "neptune/replication/agent/replica_log.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/log/log_pieces.h"

namespace neptune {
namespace {

// Maximum bytes of entries in one message.
constexpr size_t kSendSizeMax = 512u << 10;
// Piece sizes for reading and storing a whole log.
constexpr size_t kLogPieceSize = 1u << 20;
constexpr size_t kStorePieceSize = 32u << 20;
// Entries that are searched for the newest write.
constexpr Lsn kNotWritesMax = 1'000;

// Reads the first entries of the runs that fit into a message, and removes them from the runs.
Status ReadSome(const RedoLog& log, std::deque<LogRun>* places, std::vector<LogEntry>* entries) {
  size_t size = 0;
  while (!places->empty() && size <= kSendSizeMax) {
    LogRun& run = places->front();
    NEPTUNE_ASSIGN_OR_RETURN(std::vector<LogEntry> read,
                             log.Read(run.first, run.last, kSendSizeMax));
    run.first += read.size();
    for (LogEntry& entry : read) {
      size += entry.payload.size();
      entries->push_back(std::move(entry));
    }
    if (run.first <= run.last) break;
    places->pop_front();
  }
  return OkStatus();
}

// Like ReadSome, for entries that are not stored yet. REQUIRES: `change` has the first one.
std::vector<LogEntry> CollectSome(const LogChange& change, std::deque<LogRun>* places) {
  std::vector<LogEntry> entries;
  LogRun& run = places->front();
  size_t size = 0;
  for (size_t i = run.first - change.entries.front().lsn; i < change.entries.size(); ++i) {
    const LogEntry& entry = change.entries[i];
    if (entry.lsn > run.last || size > kSendSizeMax) break;
    size += entry.payload.size();
    entries.push_back(entry);
  }
  run.first += entries.size();
  if (run.first > run.last) places->pop_front();
  return entries;
}

}  // namespace

ReplicaLog::ReplicaLog(const ReplicaDevice& device, LogCommitter& committer,
                       const LogIdentity& identity)
    : device_(device), committer_(committer), identity_(identity) {}

Status ReplicaLog::Open() {
  return device_.Run(ReplicaLane::kLog, [this]() -> Status {
    log_.reset();
    NEPTUNE_ASSIGN_OR_RETURN(log_, committer_.Open(identity_));
    return OkStatus();
  });
}

Status ReplicaLog::Forget() {
  return device_.Run(ReplicaLane::kLog, [log = log_] { return log->Forget(); });
}

void ReplicaLog::Close() { log_.reset(); }

Status ReplicaLog::Prove() { return Store(std::make_shared<LogChange>()); }

Status ReplicaLog::Settle() {
  return device_.Run(ReplicaLane::kLog, [this] { return committer_.Settle(); });
}

StatusOr<OriginIndex> ReplicaLog::Index() const {
  const auto index = std::make_shared<OriginIndex>(found().base.lsn);
  while (index->last_lsn() < found().last_lsn) {
    NEPTUNE_RETURN_IF_ERROR(
        device_.Run(ReplicaLane::kLog, [log = log_, index, last = found().last_lsn]() -> Status {
          NEPTUNE_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                                   log->Read(index->last_lsn() + 1, last, kLogPieceSize));
          for (const LogEntry& entry : entries) NEPTUNE_RETURN_IF_ERROR(index->Append(entry));
          return OkStatus();
        }));
  }
  return std::move(*index);
}

Status ReplicaLog::Store(const std::shared_ptr<LogChange>& change) {
  if (identity_.is_ordered || !change->restart) {
    return committer_.Store(device_, log_, change);
  }
  for (LogChange& piece : PiecesOf(std::exchange(*change, {}), kStorePieceSize)) {
    NEPTUNE_RETURN_IF_ERROR(
        committer_.Store(device_, log_, std::make_shared<LogChange>(std::move(piece))));
  }
  return OkStatus();
}

// Times of entries before the newest write are not later; other kinds of entries are rare.
Status ReplicaLog::NoteAccepted(AcceptanceClock& accepted) const {
  const Lsn last = last_lsn();
  const Lsn first = std::max(first_lsn(), last - std::min(kNotWritesMax, last));
  for (Lsn lsn = last; lsn >= first; --lsn) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries, Read(lsn, lsn, 1));
    accepted.Note(entries.front());
    if (IsWrite(entries.front().kind)) break;
  }
  return OkStatus();
}

Status ReplicaLog::DropBefore(Lsn first) {
  return device_.Run(ReplicaLane::kLog, [log = log_, first] { return log->DropBefore(first); });
}

StatusOr<std::vector<LogEntry>> ReplicaLog::Read(Lsn first, Lsn last, size_t size_max,
                                                 ReplicaLane lane) const {
  const auto entries = std::make_shared<std::vector<LogEntry>>();
  NEPTUNE_RETURN_IF_ERROR(
      device_.Run(lane, [log = log_, first, last, size_max, entries]() -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(*entries, log->Read(first, last, size_max));
        return OkStatus();
      }));
  return std::move(*entries);
}

StatusOr<std::vector<LogEntry>> ReplicaLog::ReadForMessage(std::deque<LogRun>& places,
                                                           const UnstoredChanges& unstored) const {
  if (const LogChange* const change = unstored.Find(places.front().first)) {
    return CollectSome(*change, &places);
  }
  const auto left = std::make_shared<std::deque<LogRun>>(std::move(places));
  const auto entries = std::make_shared<std::vector<LogEntry>>();
  NEPTUNE_RETURN_IF_ERROR(device_.Run(ReplicaLane::kApply, [log = log_, left, entries] {
    return ReadSome(*log, left.get(), entries.get());
  }));
  places = std::move(*left);
  return std::move(*entries);
}

}  // namespace neptune
