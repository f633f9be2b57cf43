// What a replica's protocol shows of itself: its role, its place in the order of writes, its lease.
//
// Threads: immutable values.
// Units: times are TimePoint of the member's own monotonic clock.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

enum class ReplicaRole : uint8_t {
  kBlank,       // its store is new; it asks whether the partition is new
  kRecovering,  // it lost its promises and takes no part until it has caught up
  kSecondary,
  kCandidate,
  kPrimary,
  kPeer,  // `write_anywhere`: accepts writes, like every other member
};
std::string_view NameOf(ReplicaRole role);

// How current a member's data are: data with all writes up to `committed` were the partition's
// newest at `as_of` or later, by this member's clock.
struct ReplicaFreshness {
  Lsn committed = 0;
  TimePoint as_of{};
};

struct ReplicaStatus {
  ReplicaRole role = ReplicaRole::kBlank;
  Epoch epoch = 0;
  // Primary of this epoch, if known.
  std::optional<MemberIndex> primary;
  MemberSet write_set;
  // Writes up to here may be executed: they are committed and stored on this member, so its data
  // are never ahead of its log.
  Lsn committed = 0;
  Lsn last_lsn = 0;
  Epoch last_epoch = 0;  // epoch of the entry at last_lsn
  // Until then this member is the primary and no other can have been elected; TimePoint::min(): no
  // lease.
  TimePoint leased_until = TimePoint::min();
  // The partition is idle: the primary sends almost no heartbeats, and holds no lease.
  bool rests = false;
  // Unset: not known yet, or `write_anywhere`, where it never is. For a primary use IsLeased.
  std::optional<ReplicaFreshness> freshness;

  bool IsLeased(TimePoint now) const { return now < leased_until; }
};

}  // namespace neptune
