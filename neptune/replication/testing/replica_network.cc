#include "neptune/replication/testing/replica_network.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/testing/replica_network_state.h"

namespace neptune::replication_testing {

namespace {

constexpr Duration kPulseInterval = std::chrono::milliseconds(100);
constexpr Duration kPulseSilenceMax = std::chrono::milliseconds(300);

constexpr std::pair<Bug, const char*> kBugNames[] = {
    {Bug::kForgetsPromise, "forgets promise"},
    {Bug::kForgetsEntries, "forgets entries"},
    {Bug::kForgetsLastEntry, "forgets last entry"},
    {Bug::kSendsBeforeStoring, "sends before storing"},
    {Bug::kStoresOutOfOrder, "reports stored too early"},
    {Bug::kKeepsDroppedEntries, "keeps dropped entries"},
    {Bug::kExecutesUncommitted, "executes uncommitted"},
    {Bug::kAcknowledgesEarly, "acknowledges early"},
    {Bug::kForgetsFounding, "wiped member takes part"},
    {Bug::kReusesIncarnation, "reuses incarnation"},
    {Bug::kDoublesCommit, "commit one too high"},
    {Bug::kLosesWriteInMessage, "loses write in message"},
    {Bug::kSwapsEntries, "swaps entries"},
    {Bug::kLiesAboutMatch, "lies about match"},
    {Bug::kVotesTwice, "votes twice"},
    {Bug::kEpochGoesBack, "epoch goes back"},
    {Bug::kRestoresWrongBase, "restores wrong base"},
    {Bug::kStampFromNow, "stamp from now"},
    {Bug::kEchoesTooNew, "echoes too new"},
    {Bug::kClaimsLease, "claims lease"},
};

std::string Show(const LogEntry& entry) {
  return StrCat(entry.lsn, "@", entry.epoch, entry.kind == EntryKind::kWrite ? " write " : " set ",
                entry.kind == EntryKind::kWrite ? entry.request_id.number : entry.write_set.bits());
}

}  // namespace

std::vector<Bug> AllBugs() {
  std::vector<Bug> bugs;
  for (const auto& [bug, name] : kBugNames) bugs.push_back(bug);
  return bugs;
}

std::string NameOf(Bug bug) {
  for (const auto& [known, name] : kBugNames) {
    if (known == bug) return name;
  }
  return "none";
}

ReplicaNetwork::ReplicaNetwork(NetworkOptions options)
    : options_(std::move(options)), random_(options_.seed) {
  for (int i = 0; i < options_.member_count; ++i) {
    disks_.push_back(std::make_unique<Disk>());
    lives_.push_back(nullptr);
    clock_offsets_.push_back(std::chrono::milliseconds(random_() % 100'000));
    link_slowness_.push_back(1);
    disk_slowness_.push_back(1);
  }
  for (int i = 0; i < options_.member_count; ++i) Restart(static_cast<MemberIndex>(i));
  if (options_.has_pulses) Pulse();
}

ReplicaNetwork::~ReplicaNetwork() = default;

void ReplicaNetwork::At(TimePoint when, std::function<void()> run) {
  events_.push({std::max(when, now_), ++order_, std::move(run)});
}

void ReplicaNetwork::Wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = StrCat("at ", ToSeconds(now_.time_since_epoch()), " s: ", what);
}

TimePoint ReplicaNetwork::ClockOf(MemberIndex member) const {
  return now_ + clock_offsets_[member];
}

double ReplicaNetwork::DrawShare() { return std::uniform_real_distribution<double>(0, 1)(random_); }

Duration ReplicaNetwork::Draw(Duration mean) {
  return FromSeconds(std::exponential_distribution<double>(1 / ToSeconds(mean))(random_));
}

void ReplicaNetwork::RunFor(Duration time) {
  const TimePoint end = now_ + time;
  while (wrong_.empty() && !events_.empty() && events_.top().at <= end) {
    Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.run();
  }
  if (wrong_.empty()) now_ = end;
}

bool ReplicaNetwork::lives(MemberIndex member) const { return lives_[member] != nullptr; }
bool ReplicaNetwork::paused(MemberIndex member) const {
  return lives(member) && lives_[member]->paused;
}
ReplicationProtocol& ReplicaNetwork::member(MemberIndex member) {
  return *lives_[member]->protocol;
}

void ReplicaNetwork::Collect(MemberIndex member) {
  Life& life = *lives_[member];
  ProtocolActions actions = life.protocol->DrainActions();
  if (actions.change.drop_from != 0) {
    life.log.erase(life.log.lower_bound(actions.change.drop_from), life.log.end());
  }
  if (actions.change.restart) {
    ++life.restarts_under_way;
    life.log.clear();
    life.executed = std::max(life.executed, actions.change.restart->base.lsn);
  }
  for (const LogEntry& entry : actions.change.entries) life.log[entry.lsn] = entry;
  for (OutgoingMessage& outgoing : actions.at_once) Send(member, std::move(outgoing));
  actions.at_once.clear();
  if (actions.restore_from) BeginRestore(member, *actions.restore_from);
  if (options_.bug == Bug::kSendsBeforeStoring) {
    for (OutgoingMessage& outgoing : actions.after_stored) Send(member, std::move(outgoing));
    actions.after_stored.clear();
  }
  if (!actions.change.empty() || !actions.after_stored.empty()) Store(member, actions);
  Execute(member);
  Check(member);
  TickAt(member);
}

void ReplicaNetwork::TickAt(MemberIndex member) {
  Life& life = *lives_[member];
  const TimePoint next = life.protocol->NextEvent();
  if (next == kNever || next == life.tick_at) return;
  life.tick_at = next;
  const uint64_t incarnation = life.incarnation;
  auto tick = [this, member, incarnation, next] {
    if (!lives(member) || lives_[member]->incarnation != incarnation) return;
    Life& life = *lives_[member];
    if (life.tick_at != next) return;
    auto run = [this, member, incarnation] {
      if (!lives(member) || lives_[member]->incarnation != incarnation) return;
      lives_[member]->tick_at = kNever;
      lives_[member]->protocol->Handle(TimePassed(), ClockOf(member));
      Collect(member);
    };
    if (life.paused) {
      life.held.push_back(run);
    } else {
      run();
    }
  };
  At(next - clock_offsets_[member], tick);
}

void ReplicaNetwork::Pulse() {
  for (size_t member = 0; member < lives_.size(); ++member) {
    for (size_t peer = 0; peer < lives_.size(); ++peer) {
      if (peer != member) Pulse(static_cast<MemberIndex>(member), static_cast<MemberIndex>(peer));
    }
  }
  At(now_ + kPulseInterval, [this] { Pulse(); });
}

void ReplicaNetwork::Pulse(MemberIndex member, MemberIndex peer) {
  if (!lives(member) || paused(member)) return;
  Life::Peer& known = lives_[member]->peers[peer];
  const bool is_lost = DrawShare() < options_.loss || DrawShare() < options_.loss;
  const bool is_heard = lives(peer) && !paused(peer) && !cuts_.contains({member, peer}) &&
                        !cuts_.contains({peer, member}) && !is_lost;
  if (is_heard) {
    const uint64_t incarnation = lives_[peer]->incarnation;
    const bool is_new = known.incarnation != 0 && known.incarnation != incarnation;
    const bool was_heard = known.is_heard;
    known = {incarnation, now_, true};
    if (is_new) Hand(member, {.member = peer, .kind = PeerNews::Kind::kEnded});
    if (!was_heard) Hand(member, {.member = peer, .kind = PeerNews::Kind::kHeard});
  } else if (known.is_heard && now_ - known.heard_at >= kPulseSilenceMax) {
    known.is_heard = false;
    Hand(member, {.member = peer,
                  .kind = PeerNews::Kind::kSilent,
                  .heard_at = known.heard_at + clock_offsets_[member]});
  }
}

void ReplicaNetwork::Hand(MemberIndex member, PeerNews news) {
  lives_[member]->protocol->Handle(news, ClockOf(member));
  Collect(member);
}

void ReplicaNetwork::WantRead(MemberIndex member) {
  lives_[member]->protocol->Handle(ReadWanted(), ClockOf(member));
  Collect(member);
}

void ReplicaNetwork::Store(MemberIndex member, const ProtocolActions& actions) {
  Life& life = *lives_[member];
  const Duration store_time = Draw(options_.store_mean);
  const auto takes = Duration(
      static_cast<int64_t>(static_cast<double>(store_time.count()) * disk_slowness_[member]));
  if (now_ >= life.storing_until) life.storing_until = std::max(now_, life.next_stored_at);
  if (now_ >= life.storing_until) {
    life.storing_until = now_ + (actions.change.empty() ? Duration{0} : takes);
    life.next_stored_at = life.storing_until;
  } else if (life.next_stored_at <= life.storing_until) {
    life.next_stored_at = life.storing_until + takes;
  }
  const uint64_t incarnation = life.incarnation;
  if (options_.bug == Bug::kStoresOutOfOrder) {
    At(now_, [this, member, incarnation, number = actions.change_number] {
      if (!lives(member) || lives_[member]->incarnation != incarnation) return;
      lives_[member]->protocol->Handle(ChangeStored{number}, ClockOf(member));
      Collect(member);
    });
  }
  At(life.next_stored_at, [this, member, incarnation, actions, takes] {
    if (!lives(member) || lives_[member]->incarnation != incarnation) return;
    Disk& disk = *disks_[member];
    const LogChange& change = actions.change;
    if (change.restart) {
      --lives_[member]->restarts_under_way;
      disk.entries.clear();
      disk.outline.base = change.restart->base;
      disk.outline.base_write_set = change.restart->write_set;
      disk.executed = std::max(disk.executed, change.restart->base.lsn);
    }
    if (change.drop_from != 0 && options_.bug != Bug::kKeepsDroppedEntries) {
      disk.entries.resize(
          std::min<size_t>(disk.entries.size(), change.drop_from - disk.outline.base.lsn - 1));
    }
    size_t count = change.entries.size();
    if (options_.bug == Bug::kForgetsEntries) count = 0;
    if (options_.bug == Bug::kForgetsLastEntry && count > 0) --count;
    for (size_t i = 0; i < count; ++i) {
      const LogEntry& entry = change.entries[i];
      if (entry.lsn != disk.outline.base.lsn + disk.entries.size() + 1) {
        if (options_.bug == Bug::kNone)
          Wrong(StrCat("entry ", entry.lsn, " leaves a gap in the log of ", int{member}));
        break;
      }
      disk.entries.push_back(entry);
    }
    if (change.promise && options_.bug != Bug::kForgetsPromise) {
      disk.outline.promise = *change.promise;
    }
    for (const OutgoingMessage& outgoing : actions.after_stored) Send(member, outgoing);
    auto stored = [this, member, incarnation, number = actions.change_number, takes] {
      if (!lives(member) || lives_[member]->incarnation != incarnation) return;
      lives_[member]->protocol->Handle(ChangeStored{number, takes}, ClockOf(member));
      Collect(member);
    };
    if (lives_[member]->paused) {
      lives_[member]->held.push_back(stored);
    } else {
      stored();
    }
  });
}

void ReplicaNetwork::Corrupt(ReplicaMessage* message) {
  switch (options_.bug) {
    case Bug::kDoublesCommit:
      if (message->kind == ReplicaMessageKind::kAppend) message->committed += 1;
      break;
    case Bug::kLosesWriteInMessage:
      if (message->entries.size() > 1) {
        message->entries.erase(message->entries.begin());
        for (LogEntry& entry : message->entries) --entry.lsn;
      }
      break;
    case Bug::kSwapsEntries:
      if (message->entries.size() > 1) {
        std::swap(message->entries[0], message->entries[1]);
        std::swap(message->entries[0].lsn, message->entries[1].lsn);
      }
      break;
    case Bug::kLiesAboutMatch:
      if (message->kind == ReplicaMessageKind::kAppendAnswer && message->yes) message->matched += 1;
      break;
    case Bug::kVotesTwice:
      if (message->kind == ReplicaMessageKind::kVote) message->yes = true;
      break;
    case Bug::kStampFromNow:
      if (message->kind == ReplicaMessageKind::kAppendAnswer) {
        for (size_t i = 0; i < lives_.size(); ++i) {
          if (lives(static_cast<MemberIndex>(i)) &&
              lives_[i]->incarnation == message->to_incarnation) {
            message->primary_stamp =
                ClockOf(static_cast<MemberIndex>(i)).time_since_epoch().count();
          }
        }
      }
      break;
    case Bug::kEchoesTooNew:
      if (message->kind == ReplicaMessageKind::kAppend && message->member_stamp != 0) {
        for (size_t i = 0; i < lives_.size(); ++i) {
          if (lives(static_cast<MemberIndex>(i)) &&
              lives_[i]->incarnation == message->to_incarnation) {
            const TimePoint clock = ClockOf(static_cast<MemberIndex>(i));
            message->member_stamp = StampOf(clock + std::chrono::milliseconds(20));
          }
        }
      }
      break;
    case Bug::kClaimsLease:
      if (message->kind == ReplicaMessageKind::kAppend) message->yes = true;
      break;
    default:
      break;
  }
}

void ReplicaNetwork::Send(MemberIndex from, OutgoingMessage outgoing) {
  auto& message = std::get<ReplicaMessage>(outgoing.message);
  const Life& life = *lives_[from];
  const size_t count_max = 1 + random_() % 64;
  const LogRun entries = outgoing.entries.empty() ? LogRun() : outgoing.entries.front();
  for (Lsn lsn = entries.first; lsn <= entries.last && message.entries.size() < count_max; ++lsn) {
    const auto entry = life.log.find(lsn);
    if (entry == life.log.end()) {
      if (options_.bug == Bug::kNone)
        Wrong(StrCat("member ", int{from}, " is to send entry ", lsn, ", which it has not"));
      return;
    }
    message.entries.push_back(entry->second);
  }
  const MemberIndex to = outgoing.to;
  ++message_count_;
  Corrupt(&message);
  const int copies = DrawShare() < options_.duplication ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (cuts_.contains({from, to}) || DrawShare() < options_.loss) continue;
    const double factor = std::max(link_slowness_[from], link_slowness_[to]);
    const Duration delay = options_.delay_min + Draw(options_.delay_mean);
    const auto takes = Duration(static_cast<int64_t>(static_cast<double>(delay.count()) * factor));
    At(now_ + takes, [this, from, to, message] { Deliver(from, to, message); });
  }
}

void ReplicaNetwork::Deliver(MemberIndex from, MemberIndex to, const ReplicaMessage& message) {
  if (!lives(to)) return;
  const uint64_t incarnation = lives_[to]->incarnation;
  auto step = [this, from, to, incarnation, message = message]() mutable {
    if (!lives(to) || lives_[to]->incarnation != incarnation) return;
    if (disks_[to]->room == Room::kCritical) message.entries.clear();
    lives_[to]->protocol->Handle(MessageReceived{from, message}, ClockOf(to));
    Collect(to);
  };
  if (lives_[to]->paused) {
    lives_[to]->held.push_back(step);
  } else {
    step();
  }
}

void ReplicaNetwork::BeginRestore(MemberIndex member, MemberIndex from) {
  if (lives_[member]->restoring || disks_[member]->room == Room::kCritical) return;
  lives_[member]->restoring = true;
  const uint64_t incarnation = lives_[member]->incarnation;
  At(now_ + std::chrono::milliseconds(20), [this, member, from, incarnation] {
    if (!lives(member) || lives_[member]->incarnation != incarnation) return;
    Life& life = *lives_[member];
    life.restoring = false;
    if (!lives(from) || lives_[from]->executed == 0) return;
    const Lsn lsn = lives_[from]->executed;
    const auto entry = lives_[from]->log.find(lsn);
    const Disk& disk = *disks_[from];
    EpochStart base{
        lsn, entry == lives_[from]->log.end() ? disk.outline.base.epoch : entry->second.epoch};
    if (entry == lives_[from]->log.end() && lsn != disk.outline.base.lsn) return;
    MemberSet write_set = disk.outline.base_write_set;
    for (const auto& [at, known] : lives_[from]->log) {
      if (at <= lsn && known.kind == EntryKind::kWriteSet) write_set = known.write_set;
    }
    if (options_.bug == Bug::kRestoresWrongBase) base.lsn += 1;
    life.protocol->Handle(DataRestored{{.base = base, .write_set = write_set, .log = std::nullopt}},
                          ClockOf(member));
    life.executed = std::max(life.executed, base.lsn);
    Collect(member);
  });
}

// Executes committed entries; on a primary, acknowledges the writes that were offered to it.
void ReplicaNetwork::Execute(MemberIndex member) {
  Life& life = *lives_[member];
  const ReplicaStatus status = life.protocol->status();
  Lsn to = status.committed;
  const bool is_primary = status.role == ReplicaRole::kPrimary;
  if (options_.bug == Bug::kExecutesUncommitted ||
      (options_.bug == Bug::kAcknowledgesEarly && is_primary)) {
    to = status.last_lsn;
  }
  while (life.executed < to) {
    const auto found = life.log.find(life.executed + 1);
    if (found == life.log.end()) {
      if (options_.bug == Bug::kNone)
        Wrong(StrCat("member ", int{member}, " is to execute ", life.executed + 1,
                     ", which it has not"));
      return;
    }
    const LogEntry& entry = found->second;
    ++life.executed;
    const auto [known, is_new] = committed_.try_emplace(entry.lsn, entry);
    if (!is_new &&
        (known->second.epoch != entry.epoch || known->second.request_id != entry.request_id)) {
      Wrong(StrCat("member ", int{member}, " executes ", Show(entry), ", another did ",
                   Show(known->second)));
    }
    if (entry.kind == EntryKind::kWrite && is_primary && entry.epoch == status.epoch &&
        !acknowledged_.contains(entry.request_id.number)) {
      acknowledged_[entry.request_id.number] = {entry.lsn, now_};
      acknowledged_to_ = std::max(acknowledged_to_, entry.lsn);
      acknowledged_by_time_.push_back({now_, acknowledged_to_});
      write_times_.push_back(now_ - offered_[entry.request_id.number]);
    }
  }
  if (life.restarts_under_way > 0) return;
  Disk& disk = *disks_[member];
  disk.executed = std::max(
      disk.executed, std::min<Lsn>(life.executed, disk.outline.base.lsn + disk.entries.size()));
  disk.outline.committed = std::max(disk.outline.committed, disk.executed);
}

void ReplicaNetwork::Check(MemberIndex member) {
  const ReplicaStatus status = lives_[member]->protocol->status();
  const TimePoint clock = ClockOf(member);
  if (status.role == ReplicaRole::kPrimary) {
    const auto [known, is_new] = primaries_.try_emplace(status.epoch, member);
    if (known->second != member) {
      Wrong(StrCat("members ", int{known->second}, " and ", int{member},
                   " are both primary of epoch ", status.epoch));
    }
  }
  if (status.IsLeased(clock) && status.committed < acknowledged_to_) {
    Wrong(StrCat("leased primary ", int{member}, " has ", status.committed, " of ",
                 acknowledged_to_, " acknowledged"));
  }
  if (const auto& freshness = status.freshness) {
    const TimePoint as_of = freshness->as_of - clock_offsets_[member];
    const auto after =
        std::upper_bound(acknowledged_by_time_.begin(), acknowledged_by_time_.end(), as_of,
                         [](TimePoint at, const auto& known) { return at <= known.first; });
    const Lsn had = after == acknowledged_by_time_.begin() ? 0 : (after - 1)->second;
    if (freshness->committed < had || as_of > now_) {
      Wrong(StrCat("member ", int{member}, " claims ", freshness->committed, " as of ",
                   ToSeconds(as_of.time_since_epoch()), " s, when ", had, " was acknowledged"));
    }
  }
}

std::optional<MemberIndex> ReplicaNetwork::Primary() {
  for (size_t i = 0; i < lives_.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    if (lives(member) && !paused(member) && lives_[i]->protocol->status().IsLeased(ClockOf(member)))
      return member;
  }
  return std::nullopt;
}

Status ReplicaNetwork::StartByHand(MemberIndex member) {
  const Status started = lives_[member]->protocol->StartByHand(ClockOf(member));
  Collect(member);
  return started;
}

bool ReplicaNetwork::Write() {
  bool is_offered = false;
  for (size_t i = 0; i < lives_.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    if (!lives(member) || paused(member)) continue;
    if (lives_[i]->protocol->status().role != ReplicaRole::kPrimary) continue;
    if (disks_[i]->room != Room::kAmple) continue;
    LogEntry entry;
    entry.request_id = {1, next_write_};
    if (!lives_[i]->protocol->Propose(std::move(entry), ClockOf(member)).ok()) continue;
    offered_[next_write_++] = now_;
    is_offered = true;
    Collect(member);
  }
  return is_offered;
}

int ReplicaNetwork::WriteFor(Duration time, Duration pause) {
  int count = 0;
  for (const TimePoint end = now_ + time; now_ < end && wrong_.empty();) {
    count += Write() ? 1 : 0;
    RunFor(pause);
  }
  return count;
}

Duration ReplicaNetwork::LongestGap(Duration time) {
  Duration longest{0};
  TimePoint last = now_;
  size_t count = acknowledged_count();
  for (const TimePoint end = now_ + time; now_ < end && wrong_.empty();) {
    Write();
    RunFor(std::chrono::milliseconds(1));
    if (acknowledged_count() == count) continue;
    count = acknowledged_count();
    longest = std::max(longest, now_ - last);
    last = now_;
  }
  return std::max(longest, now_ - last);
}

bool ReplicaNetwork::IsWhole() {
  const auto primary = Primary();
  if (!primary) return false;
  const MemberSet members = lives_[*primary]->protocol->status().write_set;
  for (int i = 0; i < options_.member_count; ++i) {
    const auto member = static_cast<MemberIndex>(i);
    if (!lives(member)) return false;
    if (member == *primary) continue;
    if (lives_[i]->protocol->status().role != ReplicaRole::kSecondary) return false;
    if (IsWitness(member)) continue;
    if (!members.contains(member)) return false;
    if (lives_[i]->protocol->status().committed < acknowledged_to_) return false;
  }
  return true;
}

std::string ReplicaNetwork::Describe() {
  std::string text;
  for (int i = 0; i < options_.member_count; ++i) {
    const auto member = static_cast<MemberIndex>(i);
    text += StrCat("\n  ", i, IsWitness(member) ? " witness " : " ");
    if (!lives(member)) {
      text += "is down";
      continue;
    }
    const ReplicaStatus status = lives_[i]->protocol->status();
    text += StrCat(NameOf(status.role), " epoch ", status.epoch, " primary ",
                   status.primary ? int{*status.primary} : -1, " set ", status.write_set.bits(),
                   " committed ", status.committed, " of ", status.last_lsn);
  }
  return text;
}

}  // namespace neptune::replication_testing
