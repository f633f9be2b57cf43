// Reads arbitrary bytes as a manifest: they are refused, or give segments of distinct numbers below
// the next one.

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "index/core/partition/manifest.h"
#include "index/core/segment/fitted_header.h"

namespace {

void Check(const std::string& bytes, bool verify) {
  const auto file = search::index::SectionFile::FromBytes(
      bytes, "fuzz", search::index::kManifestKind, {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto manifest = search::index::ManifestFromFile(**file);
  if (!manifest.ok()) return;
  std::set<uint64_t> numbers;
  for (const auto& segment : manifest->segments) {
    if (!numbers.insert(segment.number).second) std::abort();
    if (segment.number >= manifest->next_number) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  Check(bytes, /*verify=*/false);
  return 0;
}
