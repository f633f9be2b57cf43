// The state of a network's members: what survives a crash, and what does not.
//
// Threads: those of replica_network.h.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "neptune/replication/testing/replica_network.h"

namespace neptune::replication_testing {

// Durable state of a member.
struct ReplicaNetwork::Disk {
  LogOutline outline;
  std::vector<LogEntry> entries;  // from outline.first_lsn on
  Lsn executed = 0;               // durable together with its changes
  Room room = Room::kAmple;
};

// State of a member from a start to the next crash.
struct ReplicaNetwork::Life {
  std::unique_ptr<ReplicationProtocol> protocol;
  std::map<Lsn, LogEntry> log;  // stored or not
  Lsn executed = 0;
  uint64_t incarnation = 0;
  TimePoint tick_at = kNever;
  bool has_room = true;  // what its protocol knows
  // Changes made while one is being stored are stored together after it.
  TimePoint storing_until{};
  TimePoint next_stored_at{};
  std::vector<std::function<void()>> held;  // while it is paused
  bool paused = false;
  bool restoring = false;
  int restarts_under_way = 0;  // log restarts not stored yet; restored data count only after them
  // What its node knows of another one.
  struct Peer {
    uint64_t incarnation = 0;  // 0: never heard
    TimePoint heard_at{};
    bool is_heard = false;
  };
  std::map<MemberIndex, Peer> peers;
};

}  // namespace neptune::replication_testing
