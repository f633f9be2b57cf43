// JSON values as YAML text, for people who read manifests: blocks for maps and lists, all text
// quoted.
//
// Source: YAML 1.2, of which JSON's scalars and quoted text are a part. Threads: pure functions.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace search::tools {

// The documents one after the other, each after a line "---". REQUIRES: each is a map; all text in
// it is UTF-8.
std::string YamlText(const std::vector<nlohmann::ordered_json>& documents);

}  // namespace search::tools
