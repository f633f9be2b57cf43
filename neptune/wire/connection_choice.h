// Which connection a server closes when it has to close one.
//
// No I/O, no clock.
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "neptune/base/time.h"

namespace neptune {

// What a server knows of one of its connections.
struct ConnectionStanding {
  // No request is unanswered, no frame is incomplete, and no answer is unsent.
  bool is_idle = false;
  // A frame was received.
  bool was_used = false;
  // When the last frame was received, or the connection was accepted.
  TimePoint last_frame_at;
  // Bytes charged for unsent answers, and when the peer last read some, or there were none.
  size_t unsent_size = 0;
  TimePoint progress_at;
};

// The idle connection to be closed for a new one: among those never used, or else among all idle
// ones, that without a frame for the longest time. Ties: the first. Nullopt: none is idle.
std::optional<size_t> ChooseIdle(const std::vector<ConnectionStanding>& all);

// The connection to be closed when memory is short: that with the most unsent bytes among those
// whose peer has read nothing for at least `grace`; of equal ones, that without progress for the
// longest time. Nullopt: there is none.
std::optional<size_t> ChooseStalled(const std::vector<ConnectionStanding>& all, TimePoint now,
                                    Duration grace);

}  // namespace neptune
