// Compares a client's secret with the expected one.
//
// Threads: pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neptune {

// The time taken does not depend on where the texts differ. REQUIRES: `secret` is not empty.
inline bool SameSecret(std::string_view given, std::string_view secret) {
  uint32_t difference = given.size() != secret.size() ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<uint8_t>(given[i]) ^ static_cast<uint8_t>(secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace neptune
