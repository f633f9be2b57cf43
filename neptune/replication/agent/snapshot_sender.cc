#include "neptune/replication/agent/snapshot_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// At most this part of a chunk is log entries while there are data, so that both make progress.
constexpr size_t kEntriesSizeMax = kSnapshotChunkSize / 4 * 3;
constexpr size_t kPieceSizeMin = kSnapshotChunkSize - kEntriesSizeMax;
// Copies of a chunk while it is made: its parts, its bytes, and those that are sent.
constexpr size_t kChunkCopies = 3;
// How long the log keeps what follows a whole snapshot: until its receiver is sent log entries.
constexpr Duration kPinLinger = std::chrono::seconds(2);

}  // namespace

struct SnapshotSender::Session {
  explicit Session(const std::shared_ptr<MemoryBudget>& budget) : held{SnapshotMemory(budget)} {}

  // Set at the beginning.
  uint64_t token = 0;
  NodeId receiver;

  // Used by the pull that is being answered, and by Close.
  struct Held {
    SnapshotMemory memory;
    std::unique_ptr<SnapshotSource> source = nullptr;
    std::shared_ptr<const void> place = nullptr;
    std::string last_chunk{};
  };
  Held held;
  std::optional<SnapshotMark> mark;  // `write_anywhere`
  Lsn sent = 0;                      // the last entry that was sent, or need not be
  uint64_t next_index = 0;
  bool is_whole = false;  // the last chunk was sent

  // Guarded by the sender's mutex.
  bool is_busy = true;
  bool is_over = false;
  TimePoint used_at{};
  Lsn pinned_after = 0;

  TimePoint ends_at() const { return used_at + (is_over ? kPinLinger : kSnapshotIdleMax); }
};

SnapshotSender::SnapshotSender(const ReplicaDevice& device, const ReplicaLog& log,
                               const ReplicaData& data, bool is_ordered, Hooks hooks)
    : device_(device), log_(log), data_(data), is_ordered_(is_ordered), hooks_(std::move(hooks)) {}

SnapshotSender::~SnapshotSender() = default;

StatusOr<std::string> SnapshotSender::Pull(const SnapshotPull& pull) {
  if (pull.is_over) {
    Finish(pull.token);
    return std::string();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           pull.token == 0 ? Begin(pull) : Claim(pull));
  StatusOr<std::string> chunk = Answer(*session, pull);
  if (EndPull(session, chunk)) Close({session});
  return chunk;
}

bool SnapshotSender::EndPull(const std::shared_ptr<Session>& session,
                             const StatusOr<std::string>& chunk) {
  const bool may_go_on = chunk.status().code() == StatusCode::kNotFound ||
                         chunk.status().code() == StatusCode::kResourceExhausted;
  // The receiver of no chunk does not know the transfer.
  const bool is_lost = !chunk.ok() && (!may_go_on || session->next_index == 0);
  LeafLock lock(&mutex_);
  session->is_busy = false;
  session->used_at = this_thread::Now();
  session->pinned_after = session->sent;
  if (chunk.ok()) totals_.size += chunk->size();
  // Its receiver may have given it up meanwhile.
  const bool was_given_up = std::erase(sessions_, session) == 0;
  if (!is_lost && !was_given_up) sessions_.push_back(session);
  return is_lost || was_given_up;
}

StatusOr<std::shared_ptr<SnapshotSender::Session>> SnapshotSender::Begin(const SnapshotPull& pull) {
  if (!data_.exists()) return FailedPrecondition("a witness has no data");
  if (pull.index != 0) return InvalidArgument("a snapshot begins with chunk 0");
  NEPTUNE_RETURN_IF_ERROR(CheckRoom());
  Close(TakeOf(pull.receiver));  // a receiver that begins again has given them up
  const auto session = std::make_shared<Session>(hooks_.memory);
  if (hooks_.take_place) {
    NEPTUNE_ASSIGN_OR_RETURN(session->held.place, hooks_.take_place());
  }
  session->receiver = pull.receiver;
  session->token = NewToken(pull.receiver);
  // Before the view is opened, so that what follows it is not dropped meanwhile.
  session->pinned_after = is_ordered_ ? data_.state()->completed() : log_.first_lsn() - 1;
  {
    LeafLock lock(&mutex_);
    sessions_.push_back(session);
  }
  if (const Status opened = OpenData(*session); !opened.ok()) {
    Remove(session);
    return opened;
  }
  return session;
}

// A view keeps space while the data are overwritten.
Status SnapshotSender::CheckRoom() const {
  if (hooks_.disk == nullptr || hooks_.disk->level() < DiskRoom::Level::kFull) return OkStatus();
  return ResourceExhausted("the disk of the sending node is almost full");
}

Status SnapshotSender::OpenData(Session& session) {
  NEPTUNE_ASSIGN_OR_RETURN(session.held.source, data_.OpenSnapshot());
  session.sent = session.held.source->completed();
  if (is_ordered_) return OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(session.mark, hooks_.mark(session.sent));
  session.sent = session.mark->log->base;
  return OkStatus();
}

StatusOr<std::shared_ptr<SnapshotSender::Session>> SnapshotSender::Claim(const SnapshotPull& pull) {
  LeafLock lock(&mutex_);
  for (const std::shared_ptr<Session>& session : sessions_) {
    if (session->token != pull.token || session->is_over) continue;
    if (session->is_busy) return Unavailable("another pull of this snapshot is being answered");
    session->is_busy = true;
    return session;
  }
  return NotFound("the snapshot has ended");
}

void SnapshotSender::Finish(uint64_t token) {
  Sessions done;
  {
    LeafLock lock(&mutex_);
    uint64_t finished = 0;
    std::erase_if(sessions_, [&](const std::shared_ptr<Session>& session) {
      if (session->token != token || session->is_over) return false;
      if (session->is_busy) return true;  // its pull closes it
      done.push_back(session);
      if (!session->is_whole) return true;
      session->is_over = true;
      session->used_at = this_thread::Now();
      ++finished;
      return false;
    });
    totals_.finished += finished;
  }
  Close(std::move(done));
}

void SnapshotSender::Remove(const std::shared_ptr<Session>& session) {
  {
    LeafLock lock(&mutex_);
    std::erase(sessions_, session);
  }
  Close({session});
}

SnapshotSender::Sessions SnapshotSender::TakeOf(const NodeId& receiver) {
  Sessions taken;
  LeafLock lock(&mutex_);
  std::erase_if(sessions_, [&](const std::shared_ptr<Session>& session) {
    if (session->receiver != receiver) return false;
    // One that is being answered is let go by its pull.
    if (!session->is_busy) taken.push_back(session);
    return true;
  });
  return taken;
}

SnapshotSender::Sessions SnapshotSender::TakeExpired(TimePoint now) {
  Sessions expired;
  const bool has_room = hooks_.disk == nullptr || hooks_.disk->may_follow();
  LeafLock lock(&mutex_);
  std::erase_if(sessions_, [&](const std::shared_ptr<Session>& session) {
    const bool may_stay = now < session->ends_at() && (has_room || session->is_over);
    if (session->is_busy || may_stay) return false;
    expired.push_back(session);
    return true;
  });
  return expired;
}

// On the device, because letting go of a view takes locks of the storage. A replica that has
// stopped runs nothing there.
void SnapshotSender::Close(Sessions sessions) {
  for (const std::shared_ptr<Session>& session : sessions) {
    Session::Held held{SnapshotMemory(nullptr)};
    {
      LeafLock lock(&mutex_);
      held = std::exchange(session->held, Session::Held{SnapshotMemory(nullptr)});
    }
    if (held.source == nullptr) continue;
    (void)device_.Run(ReplicaLane::kSnapshot, [&held] {
      held.source.reset();
      return OkStatus();
    });
  }
}

StatusOr<std::string> SnapshotSender::Answer(Session& session, const SnapshotPull& pull) {
  const bool is_repeated = pull.index + 1 == session.next_index;
  if (is_repeated && !session.held.last_chunk.empty()) return session.held.last_chunk;
  if (pull.index != session.next_index) {
    return NotFound("chunk ", session.next_index, " follows, not ", pull.index);
  }
  NEPTUNE_RETURN_IF_ERROR(session.held.memory.Reserve(kChunkCopies * kSnapshotChunkSize));
  session.held.last_chunk = std::string();  // the receiver has it
  StatusOr<SnapshotChunk> made = MakeChunk(session, pull);
  if (made.ok()) session.held.last_chunk = EncodeSnapshotChunk(*made);
  session.held.memory.Keep(session.held.last_chunk.size());
  NEPTUNE_RETURN_IF_ERROR(made.status());
  const SnapshotChunk& chunk = *made;
  if (!chunk.entries.empty()) session.sent = chunk.entries.back().lsn;
  session.is_whole = chunk.mark.has_value();
  ++session.next_index;
  return session.held.last_chunk;
}

StatusOr<SnapshotChunk> SnapshotSender::MakeChunk(Session& session, const SnapshotPull& pull) {
  SnapshotChunk chunk;
  chunk.token = session.token;
  chunk.index = pull.index;
  chunk.data_end = session.held.source->completed();
  const Lsn last = data_.executable();
  NEPTUNE_ASSIGN_OR_RETURN(const size_t size, AddEntries(session, last, chunk));
  NEPTUNE_RETURN_IF_ERROR(
      session.held.memory.ReserveLarge(kChunkCopies * std::max(size, kSnapshotChunkSize)));
  if (!session.held.source->is_done()) {
    const size_t room = kSnapshotChunkSize - std::min(size, kSnapshotChunkSize);
    NEPTUNE_ASSIGN_OR_RETURN(chunk.piece,
                             data_.NextPiece(*session.held.source, std::max(room, kPieceSizeMin)));
  }
  chunk.has_all_data = session.held.source->is_done();
  if (pull.may_end && chunk.has_all_data) {
    NEPTUNE_RETURN_IF_ERROR(AddMark(session, last, chunk));
  }
  return chunk;
}

// Adds entries after those that were sent, up to `last`; returns their size.
StatusOr<size_t> SnapshotSender::AddEntries(const Session& session, Lsn last,
                                            SnapshotChunk& chunk) const {
  if (session.sent >= last) return size_t{0};
  StatusOr<std::vector<LogEntry>> read =
      log_.Read(session.sent + 1, last, kEntriesSizeMax, ReplicaLane::kSnapshot);
  if (read.status().code() == StatusCode::kNotFound) {
    return Aborted("the log no longer has entry ", session.sent + 1,
                   ": it is written faster than the receiver takes it");
  }
  NEPTUNE_RETURN_IF_ERROR(read.status());
  chunk.entries = *std::move(read);
  size_t size = 0;
  for (const LogEntry& entry : chunk.entries) size += entry.payload.size();
  return size;
}

// Makes the chunk the last one if nothing up to `last` is left to be sent.
Status SnapshotSender::AddMark(const Session& session, Lsn last, SnapshotChunk& chunk) const {
  const Lsn sent = chunk.entries.empty() ? session.sent : chunk.entries.back().lsn;
  if (sent < last) return OkStatus();
  if (!is_ordered_) {
    chunk.mark = session.mark;
    return OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(chunk.mark, hooks_.mark(sent));
  return OkStatus();
}

Lsn SnapshotSender::PinnedAfter() const {
  LeafLock lock(&mutex_);
  Lsn pinned = kNoPin;
  for (const std::shared_ptr<Session>& session : sessions_) {
    pinned = std::min(pinned, session->pinned_after);
  }
  return pinned;
}

SnapshotSender::Totals SnapshotSender::totals() const {
  LeafLock lock(&mutex_);
  Totals totals = totals_;
  for (const std::shared_ptr<Session>& session : sessions_)
    totals.active += session->is_over ? 0 : 1;
  return totals;
}

// Differs from those of earlier processes and of other receivers. Never 0.
uint64_t SnapshotSender::NewToken(const NodeId& receiver) {
  LeafLock lock(&mutex_);
  const auto now = this_thread::Now().time_since_epoch().count();
  return Checksum64(StrCat(receiver, " ", now, " ", ++token_count_)) | 1;
}

}  // namespace neptune
