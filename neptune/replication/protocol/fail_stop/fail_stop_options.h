// Options of the paper's replication protocol (fail_stop_replica.h).
//
// Threads: immutable values.

#pragma once

#include <cstddef>

#include "neptune/base/time.h"

namespace neptune {

struct FailStopReplicaOptions {
  // Interval between announcements. Smaller: failures are detected sooner, more messages.
  // Default: 50 ms.
  Duration announcement_interval = std::chrono::milliseconds(50);
  // Silence after which a node counts as stopped. Default: 350 ms.
  Duration failure_timeout = std::chrono::milliseconds(350);
  // Time that a write waits for a live member that does not acknowledge. Default: 1 s.
  Duration acknowledge_timeout = std::chrono::seconds(1);
  // Delay before a failed election is retried. Default: 60 ms.
  Duration election_retry = std::chrono::milliseconds(60);
  // Maximum number of uncommitted writes; further ones are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

}  // namespace neptune
