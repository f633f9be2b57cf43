// Consistency levels 2 and 3 as an AgentProtocol: one order of writes, agreed on by a
// ReplicaProtocol.
//
// Source: [Shen02] 5.2. No I/O, no clock, no threads. Threads: thread-compatible.

#pragma once

#include <memory>
#include <utility>

#include "neptune/replication/protocol/agent_protocol.h"

namespace neptune {

class OrderedProtocol final : public AgentProtocol {
 public:
  explicit OrderedProtocol(std::unique_ptr<ReplicaProtocol> protocol)
      : protocol_(std::move(protocol)) {}

  void Step(MemberIndex from, ProtocolMessage message, TimePoint now) override;
  void Tick(TimePoint now) override { protocol_->Tick(now); }
  TimePoint NextEvent() const override { return protocol_->NextEvent(); }
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  void Unreachable(MemberIndex member, TimePoint now) override;
  Status StartByHand(TimePoint now) override { return protocol_->StartByHand(now); }
  ProtocolActions DrainActions() override;
  void Stored(uint64_t change_number, TimePoint now) override;
  bool Complete(Lsn log_base, ReplicaSnapshot* snapshot) const override;
  void Restored(ReplicaSnapshot snapshot, TimePoint now) override;
  // A primary keeps the entries that members lack unless the log is too large; those members then
  // need a snapshot.
  Lsn LastDroppable(Lsn wanted, bool is_large, TimePoint now) override;
  void Dropped(Lsn first) override { protocol_->Dropped(first); }
  ReplicaStatus status() const override;
  std::optional<ReplicaFreshness> freshness() const override { return protocol_->freshness(); }

 private:
  const std::unique_ptr<ReplicaProtocol> protocol_;
};

}  // namespace neptune
