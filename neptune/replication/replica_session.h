// One client's calls of replicated services: it sees its own writes, and never an older version than one it has seen, but for
// services of level 1, which promise neither.
//
//   write ─► the primary, found by what nodes announce and answers tell; asked again, under the same name, until it is
//            known what became of it
//   read  ─► a replica whose announced version is high enough; the primary if none was, or the replica says so
//
//   level 1: write ─► any replica that takes part; another one, under the same name, if it does not answer
//            read  ─► any replica that takes part: it may lack what this session wrote or has read
//
// Source: [Shen02] 5.2.1 (NeptuneHandle keeps versions; progressive version delivery).
// Threads: one client at a time; Call on a user-level thread.
// Units: deadlines are TimePoint.
// Errors: as Call; kUnavailable and kDeadlineExceeded of a write: it may be done, now or later.
// Limits: kSessionPartitionCountMax partitions are remembered; the one that was used longest ago is forgotten for one more,
//   and its next read may be older. Every call has a deadline.

#pragma once

#include <map>
#include <optional>
#include <utility>

#include "neptune/replication/replica_extension.h"
#include "neptune/service/client.h"

namespace neptune {

inline constexpr size_t kSessionPartitionCountMax = 4096;

struct ReplicaCallOptions {
  // Absent: the session's timeout from now.
  std::optional<TimePoint> deadline;
  // A read's, if it should be fresher, or may be staler, than the service promises.
  std::optional<Duration> staleness_max;
  // A write's name, if it was begun elsewhere. Default: a new one.
  RequestId id;
};

class ReplicaSession {
 public:
  explicit ReplicaSession(ClientSession session);

  // `report` may be null.
  Status Call(const ServiceName& service, PartitionId partition, const MethodName& method,
              AccessMode access, const Data& request, Data* response,
              const ReplicaCallOptions& options = {}, ReplicaReport* report = nullptr);

  // The newest version that this session has seen; 0: none.
  Lsn version(const ServiceName& service, PartitionId partition) const;
  ClientSession& session() { return session_; }

 private:
  using Key = std::pair<ServiceName, PartitionId>;
  struct Seen {
    Lsn version = 0;
    NodeId primary;  // as an answer told; may be empty
    uint64_t used = 0;
  };
  struct Attempt {
    Status status;
    NodeId server;                        // empty: none was asked
    std::optional<ReplicaReport> report;  // what the replica said
  };

  Seen& SeenOf(const Key& key);
  // By what nodes announced; empty: none did.
  NodeId AnnouncedPrimary(const Key& key) const;
  // Replicas that are known to be too old for the demand, if there are others.
  std::vector<NodeId> TooOld(const Key& key, const ReplicaDemand& demand) const;
  // Who is not asked where nobody is primary: one that was asked in vain, and of level 1 those that do not take part yet; if
  // there are others.
  std::vector<NodeId> Unwanted(const Key& key, const NodeId& in_vain) const;
  Attempt TryOnce(const Key& key, const MethodName& method, AccessMode access, const Data& request,
                  Data* response, const CallOptions& options);
  Attempt Write(const Key& key, const MethodName& method, const Data& request, Data* response,
                const ReplicaDemand& demand, TimePoint deadline);
  Attempt Read(const Key& key, const MethodName& method, const Data& request, Data* response,
               const ReplicaDemand& demand, TimePoint deadline);

  ClientSession session_;
  std::map<Key, Seen> seen_;
  uint64_t uses_ = 0;
  uint64_t client_ = 0;  // drawn at the first write
  uint64_t writes_ = 0;
};

}  // namespace neptune
