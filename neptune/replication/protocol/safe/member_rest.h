// A member's part in the rest of its partition (primary_rest.h): whether it agrees, and whether it
// rests under a primary whose node is heard.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <optional>

#include "neptune/base/time.h"
#include "neptune/replication/protocol/replica_message.h"
#include "neptune/replication/protocol/replication_protocol.h"
#include "neptune/replication/protocol/safe/election.h"
#include "neptune/replication/protocol/safe/safe_options.h"

namespace neptune {

class MemberRest {
 public:
  // The references must outlive this object.
  MemberRest(const SafeReplicaOptions& options, Election& election)
      : options_(options), election_(election) {}

  // Members whose nodes are heard.
  MemberSet live() const { return live_; }
  // `primary`: the one that this member follows.
  void NotePeer(const PeerNews& news, std::optional<MemberIndex> primary, TimePoint now);
  void NoteReader(TimePoint now) { read_wanted_at_ = now; }

  // True if the primary may rest as far as this member is concerned.
  bool IsAgreed(MemberIndex primary, TimePoint now) const;
  // This member has agreed to the offer, which it answers.
  void Begin(const ReplicaMessage& offer, TimePoint now);
  // True if this member rests under the primary, whose node is heard.
  bool IsUnder(std::optional<MemberIndex> primary) const {
    return election_.rests() && primary && live_.contains(*primary);
  }
  // If the append was overtaken by the offer, which it then does not end: when the rest ends.
  std::optional<TimePoint> EndIfLate(const ReplicaMessage& append) const;

 private:
  const SafeReplicaOptions& options_;
  Election& election_;
  MemberSet live_;
  TimePoint read_wanted_at_ = TimePoint::min();
  // The offer by which this member began to rest.
  int64_t offer_stamp_ = 0;
  Epoch offer_epoch_ = 0;
};

}  // namespace neptune
