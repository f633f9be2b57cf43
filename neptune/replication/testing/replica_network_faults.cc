// What tests do to the members of a network.

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/testing/replica_network.h"
#include "neptune/replication/testing/replica_network_state.h"

namespace neptune::replication_testing {
namespace {

// The outline of these entries, as RedoLog::Open would find it.
void Outline(const std::vector<LogEntry>& entries, LogOutline* outline) {
  outline->first_lsn = outline->base.lsn + 1;
  outline->last_lsn = outline->base.lsn + entries.size();
  outline->epochs.clear();
  outline->write_sets.clear();
  for (const LogEntry& entry : entries) {
    if (outline->epochs.empty() || outline->epochs.back().epoch != entry.epoch) {
      outline->epochs.push_back({entry.lsn, entry.epoch});
    }
    if (entry.kind == EntryKind::kWriteSet) {
      outline->write_sets.push_back({entry.lsn, entry.write_set});
    }
  }
}

}  // namespace

void ReplicaNetwork::Crash(MemberIndex member) { lives_[member].reset(); }

void ReplicaNetwork::Restart(MemberIndex member) {
  Disk& disk = *disks_[member];
  Outline(disk.entries, &disk.outline);
  if (options_.bug == Bug::kEpochGoesBack && disk.outline.promise.epoch > 1) {
    --disk.outline.promise.epoch;
    disk.outline.promise.voted_for.reset();
  }
  auto life = std::make_unique<Life>();
  life->incarnation = options_.bug == Bug::kReusesIncarnation ? member + 1u : (random_() | 1);
  for (const LogEntry& entry : disk.entries) life->log[entry.lsn] = entry;
  life->executed = disk.executed;
  ReplicaGroup group;
  for (int i = 0; i < options_.member_count; ++i) {
    group.members.push_back({NodeId(StrCat("n", i)), IsWitness(static_cast<MemberIndex>(i))});
  }
  group.self = member;
  life->protocol =
      options_.make(group, disk.outline, life->incarnation, random_(), ClockOf(member));
  lives_[member] = std::move(life);
  NoteRoom(member);
  Collect(member);
}

void ReplicaNetwork::Wipe(MemberIndex member) {
  const Room room = disks_[member]->room;
  *disks_[member] = Disk();
  disks_[member]->room = room;
  if (options_.bug == Bug::kForgetsFounding) disks_[member]->outline.promise.is_founded = true;
}

void ReplicaNetwork::Pause(MemberIndex member) { lives_[member]->paused = true; }

void ReplicaNetwork::Resume(MemberIndex member) {
  lives_[member]->paused = false;
  const auto held = std::exchange(lives_[member]->held, {});
  for (const auto& run : held) At(now_, run);
}

void ReplicaNetwork::Cut(MemberIndex from, MemberIndex to, bool is_cut) {
  if (is_cut) {
    cuts_.insert({from, to});
  } else {
    cuts_.erase({from, to});
  }
}

void ReplicaNetwork::HealAll() {
  cuts_.clear();
  options_.loss = 0;
  for (int i = 0; i < options_.member_count; ++i) {
    Slow(static_cast<MemberIndex>(i), 1);
    SetRoom(static_cast<MemberIndex>(i), Room::kAmple);
  }
}

void ReplicaNetwork::Slow(MemberIndex member, double factor) {
  link_slowness_[member] = factor;
  disk_slowness_[member] = factor;
}

void ReplicaNetwork::DropLog(MemberIndex member, Lsn keep) {
  const Disk& disk = *disks_[member];
  const Lsn last = std::min({disk.executed, disk.outline.base.lsn + disk.entries.size()});
  if (last > disk.outline.base.lsn + keep) DropThrough(member, last - keep - 1);
}

// The last dropped entry becomes the base.
void ReplicaNetwork::DropThrough(MemberIndex member, Lsn last) {
  Life& life = *lives_[member];
  Disk& disk = *disks_[member];
  if (last <= disk.outline.base.lsn) return;
  const size_t count = last - disk.outline.base.lsn;
  for (size_t i = 0; i < count; ++i) {
    if (disk.entries[i].kind == EntryKind::kWriteSet)
      disk.outline.base_write_set = disk.entries[i].write_set;
  }
  disk.outline.base = {disk.entries[count - 1].lsn, disk.entries[count - 1].epoch};
  disk.entries.erase(disk.entries.begin(), disk.entries.begin() + static_cast<ptrdiff_t>(count));
  life.log.erase(life.log.begin(), life.log.lower_bound(last + 1));
  life.protocol->Handle(EntriesDropped{last + 1}, ClockOf(member));
}

bool ReplicaNetwork::Decay(MemberIndex member) {
  Disk& disk = *disks_[member];
  if (!lives(member) || paused(member) || disk.entries.empty()) return false;
  const Lsn lost = disk.outline.base.lsn + 1 + random_() % disk.entries.size();
  const Lsn executed = IsWitness(member) ? 0 : disk.executed;
  const Lsn last = lives_[member]->protocol->LastDroppable(std::min(lost, executed),
                                                           LogPressure::kFull, ClockOf(member));
  if (last >= lost) {
    DropThrough(member, last);
    Collect(member);
    return true;
  }
  ForgetLog(member);
  return true;
}

// What remains of a log that is damaged is the epoch: the member knows that it has forgotten.
void ReplicaNetwork::ForgetLog(MemberIndex member) {
  Disk& disk = *disks_[member];
  Crash(member);
  const Epoch epoch = std::max<Epoch>(disk.outline.promise.epoch, 1);
  const Room room = disk.room;
  disk = Disk();
  disk.outline.promise.epoch = epoch;
  disk.room = room;
  Restart(member);
}

void ReplicaNetwork::SetRoom(MemberIndex member, Room room) {
  disks_[member]->room = room;
  NoteRoom(member);
}

void ReplicaNetwork::NoteRoom(MemberIndex member) {
  if (!lives(member)) return;
  Life& life = *lives_[member];
  const uint64_t incarnation = life.incarnation;
  auto note = [this, member, incarnation] {
    if (!lives(member) || lives_[member]->incarnation != incarnation) return;
    Life& life = *lives_[member];
    const bool has_room = disks_[member]->room == Room::kAmple;
    if (std::exchange(life.has_room, has_room) == has_room) return;
    life.protocol->Handle(RoomChanged{has_room}, ClockOf(member));
    Collect(member);
  };
  if (life.paused) {
    life.held.push_back(note);
  } else {
    note();
  }
}

bool ReplicaNetwork::IsWitness(MemberIndex member) const {
  return member >= options_.member_count - options_.witness_count;
}

}  // namespace neptune::replication_testing
