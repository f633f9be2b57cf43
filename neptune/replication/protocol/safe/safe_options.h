// Options of the default replication protocol (safe_replica.h).
//
// Threads: immutable values.

#pragma once

#include <cstddef>

#include "neptune/base/time.h"

namespace neptune {

struct SafeReplicaOptions {
  // Interval between a primary's heartbeats. Smaller: its loss is detected sooner, more messages.
  // Default: 50 ms.
  Duration heartbeat_interval = std::chrono::milliseconds(50);
  // Silence after which the preferred member starts an election, and the additional time for each
  // less preferred one. Larger: longer pauses are tolerated, writes wait longer for a new primary.
  // Default: 350 ms and 60 ms, so that with five members writes stop for less than a second.
  Duration election_timeout = std::chrono::milliseconds(350);
  Duration election_step = std::chrono::milliseconds(60);
  // Maximum random delay added to each timeout, uniformly distributed, so that candidates do not
  // collide forever. Default: 30 ms.
  Duration election_spread = std::chrono::milliseconds(30);
  // Duration of a lease. REQUIRES: below election_timeout by the maximum difference in clock rates.
  // Default: 300 ms.
  Duration lease_duration = std::chrono::milliseconds(300);
  // Total time that a member may delay writes which all others have stored, beyond the time that
  // each write may take; recovers by a tenth of the time that passes. Smaller: a slow member is
  // removed sooner, but so is one with a single hiccup. Default: 150 ms.
  Duration hold_up_max = std::chrono::milliseconds(150);
  // Time that a member may take to store something, unless five times the time of the quickest
  // majority is longer; a slower member does not return to the write set. Default: 10 ms.
  Duration answer_time_max = std::chrono::milliseconds(10);
  // Minimum time before a removed member returns, doubled each time up to the maximum; reset after
  // a minute in the write set. Default: 1 s and 60 s.
  Duration return_delay = std::chrono::seconds(1);
  Duration return_delay_max = std::chrono::seconds(60);
  // Time that a preferred member is in the write set before it becomes the primary, and the maximum
  // time that writes wait for the hand-over. Default: 2 s and 50 ms.
  Duration hand_over_delay = std::chrono::seconds(2);
  Duration hand_over_max = std::chrono::milliseconds(50);
  // StartByHand requires this long without a primary, and is given up if no majority joins within
  // the second time. Default: 3 s and 60 s.
  Duration by_hand_silence = std::chrono::seconds(3);
  Duration by_hand_wait_max = std::chrono::seconds(60);
  // Time without writes and without readers who ask how current the data are, after which a primary
  // rests, if the members' nodes are heard by other means. Larger: more partitions send heartbeats.
  // Default: 250 ms, since a resting partition serves writes as quickly as others.
  Duration rest_after = std::chrono::milliseconds(250);
  // Interval between heartbeats of a resting primary, up to a quarter shorter. Larger: a thousand
  // idle partitions cost less, a member that missed the news of a lost primary waits longer (twice
  // this). Default: a minute: the heartbeats only guard against lost news.
  Duration rest_interval = std::chrono::minutes(1);
  // Maximum number of uncommitted writes; further ones are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

}  // namespace neptune
