// The discussion group under the paper's load: 400 groups per server in 64 partitions.
//
// Source: [Shen02] 5.3, 5.4.1. The costs of reads and writes are fitted to the paper's single node
//   without replication: 152 requests a second with 10 % writes, 175 with 50 % (the experiment
//   repl_scaling shows the result). Half of the reads are of headers, half of a message.
// Threads: the simulation's thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/replication/replica_run.h"

namespace search::lab {

// Solutions of .9 r + .1 w = 1 / 152 and .5 r + .5 w = 1 / 175, less 1.5 %: the capacity that a
// node with exponential service times cannot use if 98 % of random arrivals are to find room in its
// queue.
inline constexpr double kReadWorkMs = 6.69;
inline constexpr double kWriteWorkMs = 4.56;

struct DiscussionLoad {
  int server_count = 8;
  double write_share = 0.1;
  // Shares of all requests, by partition. Empty: equal shares.
  std::vector<double> partition_shares{};
};

// A cluster of the service with these costs; at level 1 the service of posts_module.h, whose writes
// commute.
ReplicaClusterOptions DiscussionCluster(int server_count, int degree, const std::string& level);
// Its rate per second if every processor is always busy.
double DiscussionIdealRate(const DiscussionLoad& load, int degree);

// The users of one run.
class DiscussionUsers {
 public:
  explicit DiscussionUsers(DiscussionLoad load);
  ReplicaCall Next(neptune::RandomSource& random);

  // The unique subjects of added messages, by group and number.
  using Added = std::map<std::pair<uint64_t, uint64_t>, std::string>;
  // The acknowledged messages.
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

// One run on a new cluster; sets `load.next`.
ReplicaRunResult RunDiscussion(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                               ReplicaLoadOptions load);
// The result of HighestReplicaRate, searched around the ideal rate.
double HighestDiscussionRate(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                             const ReplicaLoadOptions& load, int steps);

// Missing acknowledged messages, and messages that exist more than once.
struct DiscussionDamage {
  uint64_t lost_count = 0;
  uint64_t doubled_count = 0;
};
// Reads all groups.
DiscussionDamage CheckDiscussion(ReplicaCluster& cluster, const DiscussionUsers& users);

}  // namespace search::lab
