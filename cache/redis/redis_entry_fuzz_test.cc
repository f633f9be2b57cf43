// Any bytes as the value of a key in Redis, which another program may have written: refused, or
// encode to the same bytes again. Tried as they are and with a correct checksum at the end.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/redis/redis_entry.h"
#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "tools/bazel/fuzz/place.h"

namespace search::cache {
namespace {

neptune::FuzzPlace accepted("an entry is accepted");

void Check(std::string_view bytes) {
  const auto entry = DecodeRedisEntry(bytes);
  if (!entry.ok()) return;
  accepted.Reach();
  CHECK(EncodeRedisEntry(*entry) == bytes);
}

}  // namespace
}  // namespace search::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  search::cache::Check(bytes);
  std::string sealed(bytes);
  neptune::ByteWriter(&sealed).Number(neptune::Checksum64(bytes));
  search::cache::Check(sealed);
  return 0;
}
