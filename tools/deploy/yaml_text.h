// Formats JSON values as readable YAML: blocks for maps and lists, all text quoted.
//
// Source: YAML 1.2, a superset of JSON's scalars and quoted strings.
// Threads: pure functions.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace search::tools {

// Returns the documents in order, each preceded by a line "---". REQUIRES: each is a map; all text
// in it is UTF-8.
std::string YamlText(const std::vector<nlohmann::ordered_json>& documents);

}  // namespace search::tools
