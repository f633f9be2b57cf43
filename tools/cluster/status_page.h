// Reads the JSON form of a node's status page (/statusz?format=json).
//
// Threads: pure functions.
// Errors: DATA_LOSS text that is not such a page, a section that is not on it, or omitted rows.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

struct StatusTable {
  std::string title;
  // Cells by column; numbers in JSON syntax.
  std::vector<std::map<std::string, std::string>> rows;
};

// Returns the tables of a section; only those of this title, unless it is empty.
neptune::StatusOr<std::vector<StatusTable>> ParseStatusSection(std::string_view page,
                                                               std::string_view section,
                                                               std::string_view title = "");

}  // namespace search::tools
