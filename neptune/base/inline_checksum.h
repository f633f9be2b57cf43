// Checksum64 without a call: for code that checksums many short strings, whose sizes the compiler
// may know. Everything else uses checksum.h.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace neptune {

inline uint64_t InlineChecksum64(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace neptune
