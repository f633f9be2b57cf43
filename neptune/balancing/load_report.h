// A server's answer when it is asked for its load.
//
// Source: [Shen02] 3.2.1 (load index).
// Threads: immutable values.
// Units: load index = active + queued requests.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/time.h"

namespace neptune {

struct LoadReport {
  uint32_t load_index = 0;
  // Time since the service last finished a request, if all its slots are taken; otherwise zero. It
  // exposes a server whose requests hang, because such a server still answers polls.
  Duration silence{0};
  // Time until the server's processors have finished the waiting aggregation work.
  Duration pending{0};
  // Its gossip about other nodes, if asked; in the format of dac/load_gossip.h.
  std::string gossip{};
};

}  // namespace neptune
