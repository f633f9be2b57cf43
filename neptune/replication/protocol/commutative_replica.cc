#include "neptune/replication/protocol/commutative_replica.h"

#include <algorithm>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Maximum number of entries in a message.
constexpr size_t kBatchCountMax = 256;

// Differs between members even if their random generators have the same seed. Never 0.
uint64_t NewLife(const NodeId& node, uint64_t incarnation) {
  return std::max<uint64_t>(1, Checksum64(node.value(), incarnation));
}

uint64_t TotalOf(const OriginCounts& counts) {
  uint64_t total = 0;
  for (const auto& [origin, count] : counts) total += count;
  return total;
}

}  // namespace

CommutativeReplica::CommutativeReplica(ReplicaGroup group, const CommutativeReplicaOptions& options,
                                       const LogOutline& found, OriginIndex index,
                                       uint64_t incarnation, TimePoint now)
    : group_(std::move(group)),
      options_(options),
      incarnation_(incarnation),
      promise_(found.promise),
      index_(std::move(index)),
      stored_lsn_(index_.last_lsn()),
      stored_counts_(index_.counts()),
      peers_(group_.members.size()),
      exchange_at_(now) {
  if (promise_.epoch == 0) {
    Promise(/*is_founded=*/group_.size() == 1,
            NewLife(group_.members[group_.self].node, incarnation));
  }
}

void CommutativeReplica::Promise(bool is_founded, uint64_t life) {
  promise_ = {.is_founded = is_founded, .epoch = life};
  actions_.change.promise = promise_;
}

// Messages.

void CommutativeReplica::Step(MemberIndex from, CommutativeMessage message, TimePoint now) {
  if (from >= group_.size() || from == group_.self || message.from_incarnation == 0) return;
  if (message.to_incarnation != 0 && message.to_incarnation != incarnation_) return;
  Peer& peer = peers_[from];
  if (peer.incarnation != message.from_incarnation) {
    if (source_ == from) source_.reset();  // it may have lost what it had
    peer = Peer();
    peer.incarnation = message.from_incarnation;
    peer.owed = 0;
  }
  peer.received_at = now;
  HandleCounts(peer, message, now);
  if (!message.entries.empty() && !is_restoring_) {
    AdoptEntries(std::move(message.entries));
    peer.owed = index_.last_lsn();
  }
  if (message.to_incarnation == 0) peer.owed = 0;
  // This member was not in the spec for a while, so others dropped entries that it lacks.
  const bool is_known_behind = message.is_behind && message.to_incarnation == incarnation_;
  if (is_ready() && is_known_behind && message.is_ready) Promise(false, promise_.epoch);
  if (!is_ready()) LookForSource(from, now);
  if (!is_ready() && source_ == from && (is_restoring_ || message.is_behind)) RestoreFrom(from);
  Maintain(now);
}

void CommutativeReplica::HandleCounts(Peer& peer, const CommutativeMessage& message,
                                      TimePoint now) {
  if (message.number <= peer.number) return;
  peer.number = message.number;
  peer.knows_me = message.to_incarnation == incarnation_;
  peer.is_ready = message.is_ready;
  peer.wants_all = message.wants_all;
  const bool has_more = !Covers(peer.has, message.has);
  peer.has = message.has;
  if (OnTheWayTo(peer) == 0) {
    peer.resend_at = kNever;
  } else if (has_more) {
    peer.resend_at = now + options_.resend_delay;
  }
}

void CommutativeReplica::AdoptEntries(std::vector<LogEntry> entries) {
  for (LogEntry& entry : entries) {
    const bool is_next = entry.kind == EntryKind::kCommutativeWrite &&
                         entry.origin.number == index_.CountOf(entry.origin.life) + 1;
    if (is_next) Append(std::move(entry));
  }
}

void CommutativeReplica::Append(LogEntry entry) {
  entry.lsn = index_.last_lsn() + 1;
  entry.epoch = 0;
  if (index_.Append(entry).ok()) actions_.change.entries.push_back(std::move(entry));
}

StatusOr<Lsn> CommutativeReplica::Propose(LogEntry write, TimePoint now) {
  if (!is_ready()) return Unavailable("this replica is still fetching writes that it missed");
  if (index_.last_lsn() - stored_lsn_ >= options_.unstored_count_max) {
    return ResourceExhausted(options_.unstored_count_max, " writes are waiting for the disk");
  }
  write.kind = EntryKind::kCommutativeWrite;
  write.origin = {promise_.epoch, index_.CountOf(promise_.epoch) + 1};
  const Lsn before = index_.last_lsn();
  Append(std::move(write));
  Maintain(now);
  if (index_.last_lsn() > before) return index_.last_lsn();
  return ResourceExhausted("this partition has had ", kOriginCountMax, " disks");
}

// Becoming ready.

// True if all members are present, none is ready, and this one has the most writes: nothing else
// exists.
bool CommutativeReplica::IsFirst() const {
  const uint64_t own_total = TotalOf(index_.counts());
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    const Peer& peer = peers_[member];
    if (member == group_.self) continue;
    if (!peer.knows_me || peer.is_ready) return false;
    const uint64_t total = TotalOf(peer.has);
    if (total > own_total || (total == own_total && member < group_.self)) return false;
  }
  return true;
}

void CommutativeReplica::LookForSource(MemberIndex from, TimePoint now) {
  if (!is_restoring_ && IsFirst()) return Promise(true, promise_.epoch);
  if (source_ && !IsHere(peers_[*source_], now)) source_.reset();
  const Peer& peer = peers_[from];
  if (!source_ && peer.is_ready && peer.knows_me) {
    source_ = from;
    goal_ = peer.has;
    peers_[from].owed = 0;
  }
  if (source_ && !is_restoring_ && Covers(stored_counts_, goal_)) Promise(true, promise_.epoch);
}

// Restores only after `from` has received the writes that only this member has.
void CommutativeReplica::RestoreFrom(MemberIndex from) {
  if (!is_restoring_ && !Covers(peers_[from].has, index_.counts())) return;
  if (!is_restoring_) StartOver(0, {});
  is_restoring_ = true;
  actions_.restore_from = from;
}

// Empties the log. LSNs are local to each log, so no entry of it may remain beside another's data.
void CommutativeReplica::StartOver(Lsn base, const OriginCounts& counts) {
  index_.Restart(base, counts);
  pending_.clear();
  stored_lsn_ = base;
  stored_counts_.clear();
  actions_.change = LogChange();
  actions_.change.promise = promise_;
  actions_.change.restart = LogChange::Restart{{base, 0}, MemberSet()};
}

void CommutativeReplica::Restored(Lsn base, const OriginCounts& counts,
                                  std::vector<LogEntry> entries, TimePoint now) {
  if (!is_restoring_) return;
  BeginLog(base, counts);
  AddToLog(std::move(entries));
  NoteCounts(now);
  EndRestore(now);
}

void CommutativeReplica::BeginLog(Lsn base, const OriginCounts& counts) {
  if (is_restoring_) StartOver(base, counts);
}

void CommutativeReplica::AddToLog(std::vector<LogEntry> entries) {
  if (!is_restoring_) return;
  for (LogEntry& entry : entries) Append(std::move(entry));
}

void CommutativeReplica::EndRestore(TimePoint now) {
  is_restoring_ = false;
  actions_.restore_from.reset();
  Maintain(now);
}

void CommutativeReplica::NoteCounts(TimePoint now) {
  Append({.kind = EntryKind::kOrigins, .payload = EncodeOriginCounts(index_.counts())});
  Maintain(now);
}

Lsn CommutativeReplica::needed_from() const {
  Lsn needed = index_.counts_lsn();
  if (!is_ready() || needed > stored_lsn_) return 0;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self) continue;
    const Peer& peer = peers_[member];
    if (!peer.is_ready) return 0;
    for (const auto& [origin, count] : index_.counts()) {
      const std::optional<Lsn> missing = index_.LsnOf(origin, CountOf(peer.has, origin) + 1);
      if (missing) needed = std::min(needed, *missing);
    }
  }
  return needed;
}

// Storing and sending.

CommutativeActions CommutativeReplica::DrainActions() {
  CommutativeActions actions = std::exchange(actions_, {});
  if (actions.change.empty()) return actions;
  actions.change_number = ++change_number_;
  pending_.push_back({change_number_, index_.last_lsn(), index_.counts()});
  return actions;
}

void CommutativeReplica::Stored(uint64_t change_number, TimePoint now) {
  while (!pending_.empty() && pending_.front().number <= change_number) {
    stored_lsn_ = pending_.front().last_lsn;
    stored_counts_ = std::move(pending_.front().counts);
    pending_.pop_front();
  }
  if (!is_ready() && source_) LookForSource(*source_, now);
  Maintain(now);
}

void CommutativeReplica::Tick(TimePoint now) {
  if (now >= exchange_at_) Exchange(now);
  Maintain(now);
}

TimePoint CommutativeReplica::NextEvent() const {
  TimePoint next = exchange_at_;
  for (const Peer& peer : peers_) next = std::min(next, peer.resend_at);
  return next;
}

void CommutativeReplica::Exchange(TimePoint now) {
  exchange_at_ = now + options_.exchange_interval;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self) continue;
    WatchLags(peers_[member], now);
    Send(member, {});
  }
}

void CommutativeReplica::WatchLags(Peer& peer, TimePoint now) {
  for (const auto& [origin, stored] : stored_counts_) {
    const uint64_t has = CountOf(peer.has, origin);
    if (has >= stored) {
      peer.lags.erase(origin);
      continue;
    }
    const auto [found, is_new] = peer.lags.try_emplace(origin, Lag{has, now, std::nullopt});
    Lag& lag = found->second;
    if (lag.goal && has < *lag.goal) continue;
    if (lag.count != has || !IsHere(peer, now)) lag = Lag{has, now, std::nullopt};
    if (now - lag.since >= options_.forward_delay) lag.goal = stored;
  }
}

void CommutativeReplica::Maintain(TimePoint now) {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (member == group_.self || peer.incarnation == 0) continue;
    if (now >= peer.resend_at) {
      peer.sent = peer.has;
      peer.resend_at = kNever;
    }
    SendEntries(member, now);
    if (peer.owed && *peer.owed <= stored_lsn_) Send(member, {});
  }
}

void CommutativeReplica::SendEntries(MemberIndex to, TimePoint now) {
  Peer& peer = peers_[to];
  if (!peer.knows_me || !IsHere(peer, now)) return;
  for (size_t on_the_way = OnTheWayTo(peer); on_the_way < options_.window_count_max;) {
    const size_t count_max = std::min(kBatchCountMax, options_.window_count_max - on_the_way);
    std::vector<Lsn> entries = NextEntriesFor(to, count_max);
    if (entries.empty()) return;
    on_the_way += entries.size();
    if (peer.resend_at == kNever) peer.resend_at = now + options_.resend_delay;
    Send(to, std::move(entries));
  }
}

// LSNs of the entries to send next, in log order, which preserves the order of each origin.
std::vector<Lsn> CommutativeReplica::NextEntriesFor(MemberIndex to, size_t count_max) {
  Peer& peer = peers_[to];
  std::vector<Lsn> entries;
  for (const auto& [origin, stored] : stored_counts_) {
    if (!IsToSend(to, origin)) continue;
    uint64_t& sent = peer.sent[origin];
    sent = std::max(sent, CountOf(peer.has, origin));
    while (sent < stored && entries.size() < count_max) {
      const std::optional<Lsn> lsn = index_.LsnOf(origin, sent + 1);
      if (!lsn) break;
      entries.push_back(*lsn);
      ++sent;
    }
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool CommutativeReplica::IsToSend(MemberIndex to, const Origin& origin) const {
  const Peer& peer = peers_[to];
  if (origin == promise_.epoch || peer.wants_all) return true;
  const auto lag = peer.lags.find(origin);
  return lag != peer.lags.end() && lag->second.goal.has_value();
}

size_t CommutativeReplica::OnTheWayTo(const Peer& peer) const {
  size_t count = 0;
  for (const auto& [origin, sent] : peer.sent) {
    const uint64_t has = CountOf(peer.has, origin);
    if (sent > has) count += sent - has;
  }
  return count;
}

bool CommutativeReplica::IsHere(const Peer& peer, TimePoint now) const {
  return peer.incarnation != 0 && now - peer.received_at < options_.away_delay;
}

void CommutativeReplica::Send(MemberIndex to, std::vector<Lsn> entries) {
  Peer& peer = peers_[to];
  peer.owed.reset();
  CommutativeMessage message;
  message.from_incarnation = incarnation_;
  message.to_incarnation = peer.incarnation;
  message.number = ++message_number_;
  message.is_ready = is_ready();
  message.wants_all = !is_ready() && source_ == to;
  message.is_behind = index_.HasDroppedBeyond(peer.has);
  message.has = stored_counts_;
  actions_.at_once.push_back({to, std::move(message), std::move(entries)});
}

}  // namespace neptune
