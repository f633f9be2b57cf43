// A question that many people asked, which becomes a suggestion.
//
// Threads: plain value.

#pragma once

#include <cstdint>
#include <string>

namespace search::index {

struct AskedQuery {
  std::string text;    // as typed
  uint32_t count = 0;  // how often it was asked; never so few that it could be private
};

}  // namespace search::index
