// Reads arbitrary bytes as collection terms: they are refused, or iteration and look-ups do not
// crash.

#include <cstdint>
#include <string>

#include "index/core/partition/collection_terms.h"
#include "index/core/segment/fitted_header.h"

namespace {

void Walk(const std::string& bytes, bool verify) {
  auto file = search::index::SectionFile::FromBytes(
      bytes, "fuzz", search::index::kCollectionTermsKind, {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto terms = search::index::CollectionTerms::FromFile(std::move(*file));
  if (!terms.ok()) return;
  search::index::TermCursor cursor((*terms)->terms());
  for (int count = 0; count < 10'000 && cursor.Next(); ++count) {
    (void)(*terms)->DocumentFrequency(cursor.key());
  }
  (void)(*terms)->DocumentFrequency("word");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Walk(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  Walk(bytes, /*verify=*/false);
  return 0;
}
