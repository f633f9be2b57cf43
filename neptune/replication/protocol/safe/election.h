// A member's promises and its part in elections: timeouts, its votes, its candidacies.
//
//   silence ──timeout──► trial (pre-vote) ──majority──► real vote in epoch + 1 ──majority──► elected
//
// The preferred member has the shortest timeout, and a random part keeps candidates from colliding
// forever. A candidate that hears no other member asks less and less often, because a node may have
// a thousand of them. A trial comes first, so a member that is cut off does not raise the epoch.
// Promises are stored before they are sent, so timeouts grow with the time that this takes: a
// candidate stores its promise, then the others store theirs, each possibly queued after another
// change.
//
// Invariants: the promised epoch never decreases; a member votes once per epoch, for a candidate
// whose log is not older than its own, and not while it may have a primary.
//
// Start by hand: the member promises an epoch far above any that others can know. Once that promise
// is stored, so that the epoch cannot be used by another primary, or again, it counts as elected by
// a majority of those it has heard.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <optional>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_outbox.h"
#include "neptune/replication/protocol/safe/safe_options.h"
#include "neptune/replication/protocol/safe/store_time.h"

namespace neptune {

class Election {
 public:
  // The references must outlive this object. `promise` is the stored one; `seed` randomizes
  // timeouts. The member may have heard a primary just before `now`.
  struct Start {
    HardState promise;
    uint64_t seed = 0;
    TimePoint now{};
  };
  Election(const ReplicaGroup& group, const SafeReplicaOptions& options, MemberLog& log,
           ReplicaOutbox& outbox, const StoreTime& store_time, const Start& start);

  // Promises.
  Epoch epoch() const { return promise_.epoch; }
  // The member takes part: its promises and acknowledgements count.
  bool participates() const { return promise_.is_founded; }
  void TakePart();
  void Promise(Epoch epoch, std::optional<MemberIndex> voted_for = std::nullopt);

  // Timeouts. Only a member that takes part has one.
  void OnMessageFromPrimary(TimePoint now);
  // Another member was heard.
  void OnMessageFromMember() { fruitless_count_ = 0; }
  void Await(TimePoint now) { AwaitFor(options_.election_timeout, now); }
  // A member without room for writes leaves it to the others to become candidates first.
  void NoteRoom(bool has_room) { has_room_ = has_room; }
  TimePoint due_at() const { return participates() ? due_at_ : kNever; }
  // The primary rests: silence counts from `until` on. Ends with the next timeout of another kind.
  void Rest(TimePoint until) { rest_until_ = due_at_ = until; }
  bool rests() const { return rest_until_.has_value(); }
  const std::optional<TimePoint>& rest_until() const { return rest_until_; }
  // The resting primary's node was last heard at `heard_at`, or is heard again. REQUIRES: rests().
  void Doubt(TimePoint heard_at, TimePoint now);
  void Trust() { due_at_ = *rest_until_; }
  // True if this member has heard no primary for this long.
  bool IsQuietFor(Duration silence, TimePoint now) const {
    return now - heard_primary_at_ >= silence;
  }

  // Votes for others. REQUIRES: participates().
  // True if the member may vote at all: it has no primary, or the primary asked for it.
  bool MayVote(const ReplicaMessage& ask, bool is_primary, TimePoint now) const;
  // True if a vote for the sender of this trial would be granted.
  bool WouldGrant(const ReplicaMessage& trial, bool is_primary, TimePoint now) const;
  // Votes for the sender if the vote of the epoch is free and its log is not older. True: granted.
  bool Grant(MemberIndex from, const ReplicaMessage& ask, bool is_primary, TimePoint now);

  // Candidacies. REQUIRES: participates().
  // What the member has won so far.
  enum class Result { kOpen, kTrial, kElected };
  // Asks all known members for their votes.
  struct Candidacy {
    bool is_trial = true;
    bool is_hand_over = false;
  };
  Result Ask(const Candidacy& candidacy, TimePoint now);
  // Takes a granted vote; ignores one of another candidacy.
  Result Count(MemberIndex from, const ReplicaMessage& vote);
  // The members that elected this one.
  MemberSet votes() const { return votes_; }

  // Start by hand.
  // Promises the epoch; `known` is the largest that others are known to have promised.
  void BeginByHand(Epoch known, TimePoint now);
  // All promises so far are contained in the change with this number.
  void NoteDrained(uint64_t change_number);
  // Takes the stored change; true if the member thereby counts as elected by votes().
  bool IsElectedByHand(uint64_t stored_number);

 private:
  void AwaitFor(Duration silence, TimePoint now);
  // Time that a member leaves to others after the silence.
  Duration Delay(TimePoint now);
  bool HasNothingNewerThan(const ReplicaMessage& ask) const;
  Duration RandomUpTo(Duration most);
  Result CountVotes() const;
  void AssumeVotes();

  const ReplicaGroup& group_;
  const SafeReplicaOptions& options_;
  MemberLog& log_;
  ReplicaOutbox& outbox_;
  const StoreTime& store_time_;
  HardState promise_;
  uint64_t random_state_;

  TimePoint heard_primary_at_;
  TimePoint due_at_ = kNever;
  std::optional<TimePoint> rest_until_;
  bool has_room_ = true;
  bool is_trial_ = true;
  int fruitless_count_ = 0;  // trials since another member was heard
  MemberSet votes_;
  // Started by hand: the promise to be stored first, and the number of its change once assigned.
  Epoch by_hand_epoch_ = 0;
  std::optional<uint64_t> by_hand_change_;
};

}  // namespace neptune
