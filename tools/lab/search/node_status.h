// Reads the status page of a running node.
//
// Threads: blocks until the node answers, for at most kNodeStatusTimeMax.
// Errors: INVALID_ARGUMENT invalid address; DATA_LOSS not a status page, or rows are omitted;
//   UNAVAILABLE, DEADLINE_EXCEEDED no answer.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::lab {

inline constexpr std::chrono::milliseconds kNodeStatusTimeMax{2000};

struct NodeStatusTable {
  std::string title;
  // Cells by column; numbers in JSON syntax.
  std::vector<std::map<std::string, std::string>> rows;
};

// `admin` is the address of the node's administration endpoint, "a.b.c.d:port".
neptune::StatusOr<std::vector<NodeStatusTable>> ReadNodeStatus(const std::string& admin,
                                                               const std::string& section);

// Parses a section of a page in JSON.
neptune::StatusOr<std::vector<NodeStatusTable>> ParseNodeStatus(std::string_view page,
                                                                const std::string& section);

}  // namespace search::lab
