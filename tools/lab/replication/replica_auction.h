// The replicated auction under the paper's load: 400 categories per server in 64 partitions; 10 %
// bids, 3 % new items.
//
// Source: [Shen02] 5.4.4. The costs are ours: the paper states that requests of an auction cost
//   more than those of a discussion group, and bids very little. Each kind of read is a third of
//   the reads. Half of the time users return to the item that they viewed last.
// Threads: the simulation's thread.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/lab/replication/replica_run.h"

namespace search::lab {

inline constexpr double kAuctionReadMs = 8;
inline constexpr double kAuctionAddMs = 6;
inline constexpr double kAuctionBidMs = 2;
inline constexpr double kAuctionBidShare = 0.10;
inline constexpr double kAuctionAddShare = 0.03;

ReplicaClusterOptions AuctionHouseCluster(int server_count, int degree);
// Its rate per second if every processor is always busy.
double AuctionHouseIdealRate(int server_count, int degree);

// The users of one run.
class AuctionUsers {
 public:
  explicit AuctionUsers(int server_count);
  ReplicaCall Next(ReplicaUser& user, neptune::RandomSource& random);

  // The number of answers with a lower bid than the same session had seen for the item.
  uint64_t decline_count() const { return decline_count_; }
  // The number of answers with a bid for an item that the session had seen before.
  uint64_t seen_again_count() const { return seen_again_count_; }

 private:
  struct Item {
    uint64_t category = 0;
    uint64_t id = 0;
    uint64_t amount = 0;  // the highest acknowledged bid
  };
  ReplicaCall Add(neptune::RandomSource& random);
  ReplicaCall Bid(ReplicaUser& user, neptune::RandomSource& random);
  ReplicaCall View(ReplicaUser& user, neptune::RandomSource& random);
  size_t DrawItem(ReplicaUser& user, neptune::RandomSource& random) const;
  void Saw(ReplicaUser& user, size_t item, uint64_t amount);

  const uint64_t category_count_;
  std::vector<Item> items_;  // acknowledged
  uint64_t decline_count_ = 0;
  uint64_t seen_again_count_ = 0;
};

}  // namespace search::lab
