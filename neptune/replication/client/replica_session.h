// One client's calls of replicated services. A session reads its own writes and never an older
// version than it has seen (monotonic reads), except for services at `write_anywhere`, which
// guarantee neither.
//
//   write ─► the primary, known from announcements and answers; retried under the same request id
//            until the outcome is known
//   read  ─► a replica whose announced version is high enough; the primary if there is none, or if
//            the replica redirects
//
//   `write_anywhere`: write ─► any ready replica; retried at another one, under the same request id
//            read  ─► any ready replica; it may lack what this session wrote or has read
//
// Source: [Shen02] 5.2.1 (NeptuneHandle keeps versions; progressive version delivery).
// Threads: one client at a time; Call on a user-level thread.
// Units: deadlines are TimePoint.
// Errors: as Call; after kUnavailable and kDeadlineExceeded a write may be executed, now or later.
// Limits: kSessionPartitionCountMax partitions are remembered; the least recently used one is
//   evicted, and its next read may be older. Every call has a deadline.

#pragma once

#include <map>
#include <optional>
#include <utility>

#include "neptune/replication/client/replica_extension.h"
#include "neptune/service/client.h"

namespace neptune {

inline constexpr size_t kSessionPartitionCountMax = 4096;

struct ReplicaCallOptions {
  // Unset: the session's timeout from now.
  std::optional<TimePoint> deadline;
  // Maximum staleness of a read. Unset: the service's bound.
  std::optional<Duration> staleness_max;
  // Request id of a write that was begun elsewhere. Default: a new one.
  RequestId id;
};

class ReplicaSession {
 public:
  explicit ReplicaSession(ClientSession session);

  // `report` may be null.
  Status Call(const CalledMethod& callee, const Data& request, Data* response,
              const ReplicaCallOptions& options = {}, ReplicaReport* report = nullptr);

  // The newest version that this session has seen; 0: none.
  Lsn version(const ServiceName& service, PartitionId partition) const;
  ClientSession& session() { return session_; }

 private:
  using Key = std::pair<ServiceName, PartitionId>;
  struct Seen {
    Lsn version = 0;
    NodeId primary;  // from the last answer; may be empty
    uint64_t used = 0;
  };
  struct Attempt {
    Status status;
    NodeId server;                        // empty: none was asked
    std::optional<ReplicaReport> report;  // the replica's report, if it answered
  };

  Seen& SeenOf(const Key& key);
  // The primary according to announcements; empty: not announced.
  NodeId AnnouncedPrimary(const Key& key) const;
  // Replicas whose announced versions are too old for the demand; empty if that would leave none.
  std::vector<NodeId> TooOld(const Key& key, const ReplicaDemand& demand) const;
  // Replicas to skip when there is no primary: the one that just failed and, at `write_anywhere`,
  // members that are not ready; empty if that would leave none.
  std::vector<NodeId> Unwanted(const Key& key, const NodeId& in_vain) const;
  // What a call demands, until its deadline.
  struct Terms {
    ReplicaDemand demand;
    TimePoint deadline{};
  };
  Attempt TryOnce(const CalledMethod& callee, const Data& request, Data* response,
                  const CallOptions& options);
  Attempt Write(const CalledMethod& callee, const Data& request, Data* response,
                const Terms& terms);
  Attempt Read(const CalledMethod& callee, const Data& request, Data* response, const Terms& terms);

  ClientSession session_;
  std::map<Key, Seen> seen_;
  uint64_t uses_ = 0;
  uint64_t client_ = 0;  // random, drawn at the first write
  uint64_t writes_ = 0;
};

}  // namespace neptune
