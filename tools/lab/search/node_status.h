// Reads the status page of a running node.
//
// Threads: blocks until the node answers, for at most kNodeStatusTimeMax.
// Errors: INVALID_ARGUMENT invalid address; DATA_LOSS not a status page, or rows are omitted;
//   UNAVAILABLE, DEADLINE_EXCEEDED no answer.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/cluster/status_page.h"

namespace search::lab {

inline constexpr std::chrono::milliseconds kNodeStatusTimeMax{2000};

// `admin` is the address of the node's administration endpoint, "a.b.c.d:port".
neptune::StatusOr<std::vector<tools::StatusTable>> ReadNodeStatus(const std::string& admin,
                                                                  const std::string& section);

}  // namespace search::lab
