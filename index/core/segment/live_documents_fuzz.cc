// Reads arbitrary bytes as the live documents of a segment of 700 documents: they are refused, or
// give a bitmap whose count fits its bits. The header is made to fit, and checksums of sections are
// not compared.

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "index/core/segment/fitted_header.h"
#include "index/core/segment/format.h"
#include "index/core/segment/live_documents.h"

namespace {

using search::index::LiveDocuments;
using search::index::SectionFile;

void Check(const std::string& bytes, bool verify) {
  const auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kLiveDocumentsKind,
                                           {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto live = LiveDocuments::FromFile(**file, /*segment_fingerprint=*/1, 700);
  if (!live.ok()) return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < live->document_count(); ++i) count += live->IsLive(i) ? 1 : 0;
  uint32_t bits = 0;
  for (const uint64_t word : live->words()) bits += static_cast<uint32_t>(std::popcount(word));
  if (count != live->live_count() || bits != count) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  Check(bytes, /*verify=*/false);
  return 0;
}
