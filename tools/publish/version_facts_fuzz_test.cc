// Any bytes as a node's status page about versions: read or refused.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/publish/cluster_versions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)search::tools::ParseVersionFacts({reinterpret_cast<const char*>(data), size});
  return 0;
}
