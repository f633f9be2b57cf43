// Any bytes as the manifest of an index: read, and then nothing in it leads outside of the index
// folder; or refused.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "tools/build_index/index_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest =
      search::tools::ParseIndexManifest({reinterpret_cast<const char*>(data), size});
  if (!manifest.ok()) return 0;
  for (const auto& file : manifest->files) {
    const std::filesystem::path path = std::filesystem::path("/index") / file.path;
    CHECK(path.lexically_normal().string().starts_with("/index/")) << path;
  }
  return 0;
}
