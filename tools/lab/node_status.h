// What a running node says of itself on its status page.
//
// Source: none. Layer: tools.
// Threads: pure function that blocks for as long as the node takes to answer, kNodeStatusTimeMax at most.
// Errors: DATA_LOSS it is no such page, or it leaves rows out; UNAVAILABLE, DEADLINE_EXCEEDED it does not answer.

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
  // Cells by column; numbers in JSON's form.
  std::vector<std::map<std::string, std::string>> rows;
};

// `started` is what neptuned wrote when it had started (--started_file).
neptune::StatusOr<std::vector<NodeStatusTable>> ReadNodeStatus(std::string_view started,
                                                               const std::string& section);

// The section of a page in JSON.
neptune::StatusOr<std::vector<NodeStatusTable>> ParseNodeStatus(std::string_view page,
                                                                const std::string& section);

}  // namespace search::lab
