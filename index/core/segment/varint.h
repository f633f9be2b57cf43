// Variable-length integers of one to ten bytes: seven bits per byte, least significant first; a set
// high bit means that another byte follows.
//
// Threads: pure functions.
// Errors: GetVarint refuses numbers cut off at `end` and longer than ten bytes.

#pragma once

#include <cstdint>
#include <string>

namespace search::index {

inline void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Moves *at past the number. False if there is none; *at is then anywhere up to `end`.
inline bool GetVarint(const char** at, const char* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*(*at)++);
    if (shift == 63 && byte > 1) return false;
    result |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

}  // namespace search::index
