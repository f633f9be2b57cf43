// What a running node says of itself on its status page.
//
// Threads: pure function that blocks for as long as the node takes to answer, kNodeStatusTimeMax at most.
// Errors: INVALID_ARGUMENT no address; DATA_LOSS it is no such page, or it leaves rows out; UNAVAILABLE,
//   DEADLINE_EXCEEDED it does not answer.

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

// `admin` is the address of the node's administration, "a.b.c.d:port".
neptune::StatusOr<std::vector<NodeStatusTable>> ReadNodeStatus(const std::string& admin,
                                                               const std::string& section);

// The section of a page in JSON.
neptune::StatusOr<std::vector<NodeStatusTable>> ParseNodeStatus(std::string_view page,
                                                                const std::string& section);

}  // namespace search::lab
