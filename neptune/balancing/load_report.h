// What a server says of itself when it is asked for its load.
//
// Source: [Shen02] 3.2.1 (load index). Threads: immutable values.
// Units: load index = active + queued requests.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/time.h"

namespace neptune {

struct LoadReport {
  uint32_t load_index = 0;
  // Time since the service last finished a request, while all its slots are taken; else zero. A server whose
  // requests hang answers polls all the same: this is how it shows.
  Duration silence{0};
  // Time until all processors of the server are done with the aggregation work that waits there.
  Duration pending{0};
  // What it has heard of other nodes, for who asked for that too; as bytes of dac/load_gossip.h.
  std::string heard{};
};

}  // namespace neptune
