// The discussion group as the paper loads it: 400 groups a server in 64 partitions.
//
// Source: [Shen02] 5.3, 5.4.1. What a read and a write cost is fitted to the paper's single node without
// replication: 152 requests a second with 10 % writes, 175 with 50 % (experiment repl_scaling shows what comes of it).
// Half of the reads are of headers, half of a message.
// Threads: the simulation's thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/replication/replica_run.h"

namespace search::lab {

// The two equations .9 r + .1 w = 1 / 152 and .5 r + .5 w = 1 / 175 solved, less what a node with exponential service times
// cannot use if 98 % of what comes at random is to find room in its queue: 1.5 %.
inline constexpr double kReadWorkMs = 6.69;
inline constexpr double kWriteWorkMs = 4.56;

struct DiscussionLoad {
  int server_count = 8;
  double write_share = 0.1;
  // Of all requests, by partition. Empty: all alike.
  std::vector<double> partition_shares{};
};

// A cluster of the service with those costs; at level 1 of posts_module.h, whose writes commute.
ReplicaClusterOptions DiscussionCluster(int server_count, int degree, const std::string& level);
// What it can do a second if every processor is busy all the time.
double DiscussionIdealRate(const DiscussionLoad& load, int degree);

// One run's users.
class DiscussionUsers {
 public:
  explicit DiscussionUsers(DiscussionLoad load);
  ReplicaCall Next(neptune::RandomSource& random);

  // An added message, by group and number, with its subject, which is its own.
  using Added = std::map<std::pair<uint64_t, uint64_t>, std::string>;
  // Those whose addition was acknowledged.
  const Added& added() const { return added_; }
  uint64_t group_count() const { return group_count_; }

 private:
  uint64_t DrawGroup(neptune::RandomSource& random) const;
  ReplicaCall Add(uint64_t group, neptune::RandomSource& random);
  ReplicaCall View(uint64_t group, neptune::RandomSource& random) const;
  ReplicaCall ViewHeaders(uint64_t group, neptune::RandomSource& random) const;

  const DiscussionLoad load_;
  const uint64_t group_count_;
  std::vector<double> cumulative_shares_;
  uint64_t written_ = 0;
  Added added_;
  std::map<uint64_t, std::vector<uint64_t>> messages_;  // acknowledged, by group
};

// A run of its own on a cluster of its own; `load.next` is the discussion's.
ReplicaRunResult RunDiscussion(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                               ReplicaLoadOptions load);
// By HighestReplicaRate, about what is ideal.
double HighestDiscussionRate(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                             const ReplicaLoadOptions& load, int steps);

// Acknowledged messages that are not there, and messages that are there more than once.
struct DiscussionDamage {
  uint64_t lost_count = 0;
  uint64_t doubled_count = 0;
};
// Reads all groups.
DiscussionDamage CheckDiscussion(ReplicaCluster& cluster, const DiscussionUsers& users);

}  // namespace search::lab
