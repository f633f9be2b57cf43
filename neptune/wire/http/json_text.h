// Prints a JSON document in one line. The text must not be embedded in HTML: it may contain
// "</script>", since "<", ">" and "&" are not escaped.
//
// Source: RFC 8259; nlohmann's JSON does the work.
// Threads: a pure function.
// Errors: bytes that are not UTF-8 become U+FFFD; infinity and NaN, which JSON cannot represent,
//   become null.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace neptune {

// The document's text with a line break at its end; members keep their order.
inline std::string JsonText(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace neptune
