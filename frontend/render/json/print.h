// Prints a tree of JSON in one line with fields in order; invalid UTF-8 is replaced. For operators'
// pages; answers for users are written without a tree (json_writer.h).
//
// Threads: a pure function.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace search::frontend::json {

inline std::string Print(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace search::frontend::json
