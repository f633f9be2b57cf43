// Checksums of byte strings: XXH3 of 64 bits, for finding damage, not for security.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string_view>

namespace neptune {

// The checksum of `bytes`, continued from `seed` when a whole is checked in parts that must keep
// order.
uint64_t Checksum64(std::string_view bytes, uint64_t seed = 0);

// Its lower half, where four bytes must do.
uint32_t Checksum32(std::string_view bytes);

}  // namespace neptune
