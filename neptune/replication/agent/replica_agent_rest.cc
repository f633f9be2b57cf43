// What a ReplicaAgent does so that its partition can rest (../protocol/safe/primary_rest.h).

#include <algorithm>
#include <memory>
#include <utility>

#include "neptune/replication/agent/replica_agent.h"
#include "neptune/replication/agent/replica_board.h"
#include "neptune/replication/protocol/replication_protocol.h"

namespace neptune {
namespace {

// Interval at which readers are reported to the protocol: well below the time after which a
// partition rests.
constexpr Duration kReaderInterval = std::chrono::milliseconds(100);
// Time that a reader waits for a primary to wake: a few heartbeats.
constexpr Duration kReadyWaitMax = std::chrono::milliseconds(100);

}  // namespace

void ReplicaAgent::NotePeer(const PeerNews& news) {
  if (stopping_ || protocol_ == nullptr) return;
  may_rest_ = true;
  protocol_->Handle(news, loop_.Now());
  WakePump();
}

void ReplicaAgent::NoteReader(TimePoint now) {
  TimePoint last = reader_noted_at_;
  if (!may_rest_ || now < AddSaturated(last, kReaderInterval)) return;
  if (!reader_noted_at_.compare_exchange_strong(last, now)) return;
  loop_.Post([self = shared_from_this(), this] {
    if (stopping_) return;
    protocol_->Handle(ReadWanted(), loop_.Now());
    WakePump();
  });
}

bool ReplicaAgent::AwaitReady(TimePoint now, TimePoint deadline) {
  if (!may_rest_ || board_->leader().primary != options_.group.self) return false;
  const auto ready = std::make_shared<OneShotEvent>();
  loop_.Post([self = shared_from_this(), this, ready] {
    if (stopping_) return ready->Set();
    ready_waiters_.push_back(ready);
    protocol_->Handle(ReadWanted(), loop_.Now());
    WakePump();
  });
  return ready->Wait(std::min(deadline, AddSaturated(now, kReadyWaitMax))) == ParkResult::kWoken;
}

}  // namespace neptune
