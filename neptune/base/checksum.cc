#include "neptune/base/checksum.h"

#define XXH_INLINE_ALL  // most inputs are so short that a call would cost more
#include <xxhash.h>

namespace neptune {

uint64_t Checksum64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint32_t Checksum32(std::string_view bytes) { return static_cast<uint32_t>(Checksum64(bytes)); }

}  // namespace neptune
