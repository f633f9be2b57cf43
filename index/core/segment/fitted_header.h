// Writes a valid header over mutated bytes of a section file, so that a fuzz target reaches the
// code that reads past the header.
//
// Format: format.md.
// Threads: pure functions.

#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace search::index {

// Sets the size and the header's checksum; bytes shorter than a header and its table stay
// unchanged.
inline void FitHeader(std::string* bytes) {
  constexpr size_t kHeaderSize = 32;
  constexpr size_t kEntrySize = 32;
  if (bytes->size() < kHeaderSize) return;
  uint32_t section_count = 0;
  std::memcpy(&section_count, bytes->data() + 16, sizeof(section_count));
  const uint64_t size = bytes->size();
  std::memcpy(bytes->data() + 8, &size, sizeof(size));
  if (section_count > (bytes->size() - kHeaderSize) / kEntrySize) return;
  std::memset(bytes->data() + 24, 0, 8);
  const uint64_t checksum = XXH3_64bits(bytes->data(), kHeaderSize + section_count * kEntrySize);
  std::memcpy(bytes->data() + 24, &checksum, sizeof(checksum));
}

}  // namespace search::index
