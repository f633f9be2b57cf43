#include "neptune/base/checksum.h"

#define XXH_INLINE_ALL  // most of what is summed up is shorter than the call would take
#include <xxhash.h>

namespace neptune {

uint64_t Checksum64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint32_t Checksum32(std::string_view bytes) { return static_cast<uint32_t>(Checksum64(bytes)); }

}  // namespace neptune
