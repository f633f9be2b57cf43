// Prints JSON with an indentation of one space and fields in order; invalid UTF-8 is replaced.
//
// Threads: a pure function.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace search::frontend::json {

inline std::string Print(const nlohmann::ordered_json& document) {
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace search::frontend::json
