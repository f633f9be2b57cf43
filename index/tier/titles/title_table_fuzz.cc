// Reads arbitrary bytes as a table of titles: they are rejected, or read without a crash. The
// header is made valid first, so that damage after it is reached.

#include <cstdint>
#include <string>

#include "index/core/segment/fitted_header.h"
#include "index/tier/titles/title_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::index::SectionFile;
  using search::index::TitleTable;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  search::index::FitHeader(&bytes);
  auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kTitleTableKind,
                                     {.verify_checksums = false});
  if (!file.ok()) return 0;
  const auto table = TitleTable::FromFile(*std::move(file));
  if (!table.ok()) return 0;
  size_t read = 0;
  for (uint64_t doc_id = 0; doc_id < 64; ++doc_id) {
    const auto document = (*table)->Find(doc_id);
    if (document) read += document->url.size() + document->public_url.size();
  }
  if (read > 64 * bytes.size()) std::abort();
  return 0;
}
