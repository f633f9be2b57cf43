// The start of a member: it greets the others, and finds out whether the partition is new, or
// whether it has lost a disk and must first catch up.
//
//   blank ──all members are blank──► takes part
//     └──some are not──► recovering ──knows a majority's promises, has a primary's log──► takes part
//
// Invariant: a member that lost its promises follows only a primary whose epoch is at least any
// that a majority of the others had promised, or one that an operator started by hand, and takes
// part only once it has that primary's log as it was when it began to follow.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <optional>

#include "neptune/base/time.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

class Recovery {
 public:
  // `group` must outlive this object.
  Recovery(const ReplicaGroup& group, Duration hello_interval, TimePoint now)
      : group_(group),
        hello_interval_(hello_interval),
        hello_at_(group.size() > 1 ? now : kNever) {}

  // When the others must be greeted next; kNever: they know this incarnation.
  TimePoint hello_at() const { return hello_at_; }
  // True if the others must be greeted now. `is_settled`: the member takes part, and has heard, or
  // is, a primary.
  bool Greet(bool is_settled, TimePoint now);
  // Another member was heard; greetings are frequent again.
  void OnMessageFromMember(TimePoint now);
  // Others may have restarted, and drop messages that are addressed to their previous incarnation.
  void GreetAgain(TimePoint now);
  void OnMessageFromPrimary() { has_heard_primary_ = true; }
  bool has_heard_primary() const { return has_heard_primary_; }

  // Handles the answer to a greeting, while this member does not take part. `is_blank`: this member
  // has never stored anything.
  enum class Finding {
    kNothing,
    kOthersAreOlder,  // the partition is not new: this member has lost its disk
    kAllAreBlank,     // the partition is new
  };
  Finding OnAnswer(MemberIndex from, const ReplicaMessage& answer, bool is_blank);
  // True if a member that does not take part may follow the sender of this message.
  bool MayFollow(const ReplicaMessage& message) const;
  // True if the member, whose log matches the primary's append up to `last_lsn`, has caught up.
  bool HasCaughtUp(const ReplicaMessage& append, Lsn last_lsn);
  // The largest epoch that others have promised.
  Epoch largest_epoch() const { return largest_epoch_; }

 private:
  const ReplicaGroup& group_;
  const Duration hello_interval_;
  TimePoint hello_at_;
  int unanswered_count_ = 0;        // greetings since another member was heard
  bool has_heard_primary_ = false;  // in this incarnation
  MemberSet blank_;                 // members that are as blank as this one
  MemberSet answered_;              // members that take part and have sent their epoch
  Epoch largest_epoch_ = 0;         // the largest of these epochs
  Epoch recovering_from_ = 0;       // epoch of the primary that set recover_to_
  std::optional<Lsn> recover_to_;
};

}  // namespace neptune
