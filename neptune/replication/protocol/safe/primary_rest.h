// Whether a primary rests: an idle partition then costs its members almost nothing.
//
//   awake ──idle, members agree──► offering ──all have answered──► resting
//     ▲                               │                                │
//     └──a write, a reader, a message, news of a member's node───────────┘
//
// Every heartbeat of an offer says so; a member that has answered any of them has agreed.
//
// A resting primary sends a heartbeat each rest_interval only, so it holds no lease and the
// members' data count as older and older: the first reader who asks how current they are wakes it.
// Members of a resting primary expect no heartbeats, but learn from their nodes, which hear each
// other (PeerNews), when its node is silent; they then elect another as quickly as otherwise.
//
// Nothing that safety relies on changes: leases, votes and commits count the same answers. A member
// that is mistaken about a resting primary only waits too long, or asks for votes in vain.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstdint>

#include "neptune/base/time.h"
#include "neptune/base/time_grid.h"
#include "neptune/replication/protocol/safe/safe_options.h"

namespace neptune {

class PrimaryRest {
 public:
  // `options` must outlive this object.
  explicit PrimaryRest(const SafeReplicaOptions& options) : options_(options) {}

  // A term begins.
  void Begin(TimePoint now) {
    phase_ = Phase::kAwake;
    began_at_ = active_at_ = awake_since_ = now;
  }
  // A write, or a reader.
  void NoteActivity(TimePoint now) { active_at_ = now; }
  bool IsIdle(TimePoint now) const { return now - active_at_ >= options_.rest_after; }

  bool is_awake() const { return phase_ == Phase::kAwake; }
  bool is_offering() const { return phase_ == Phase::kOffering; }
  bool is_resting() const { return phase_ == Phase::kResting; }
  // When it last began to send heartbeats after a rest, or its term began.
  TimePoint awake_since() const { return awake_since_; }
  // When the last write or reader came.
  TimePoint active_at() const { return active_at_; }
  // When the first heartbeat of the offer was sent. REQUIRES: offering or resting.
  TimePoint offered_at() const { return offered_at_; }

  // A heartbeat is sent; `offers`: it says that the primary is about to rest.
  void NoteHeartbeat(bool offers, TimePoint now) {
    if (offers && !is_offering()) offered_at_ = now;
    phase_ = offers ? Phase::kOffering : Phase::kAwake;
  }
  // All have agreed. Returns the time of the next heartbeat. Those of partitions are spread over
  // times that they share, so that the messages of a node to another one are sent together.
  TimePoint Rest(TimePoint now) {
    phase_ = Phase::kResting;
    const auto spread = static_cast<uint64_t>((options_.rest_interval / kSpreadShare).count());
    const auto mixed =
        static_cast<uint64_t>(began_at_.time_since_epoch().count()) * 0x9e3779b97f4a7c15u >> 20;
    const TimePoint at = now + options_.rest_interval -
                         Duration(static_cast<int64_t>(spread == 0 ? 0 : mixed % spread));
    const Duration step = options_.rest_interval / kStepShare;
    return step > Duration(0) ? LastOnGrid(at, step) : at;
  }
  void Wake(TimePoint now) {
    if (is_resting()) awake_since_ = now;
    phase_ = Phase::kAwake;
  }

 private:
  enum class Phase : uint8_t { kAwake, kOffering, kResting };
  // Parts of rest_interval: together below a quarter of it.
  static constexpr int kSpreadShare = 5;
  static constexpr int kStepShare = 30;

  const SafeReplicaOptions& options_;
  Phase phase_ = Phase::kAwake;
  TimePoint began_at_{};
  TimePoint active_at_{};
  TimePoint awake_since_{};
  TimePoint offered_at_{};
};

}  // namespace neptune
