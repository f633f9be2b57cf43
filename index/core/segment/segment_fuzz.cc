// Reads arbitrary bytes as a segment: they are rejected, or read completely without a crash or an
// unreasonable allocation. The header is made valid first, so that damage after it is reached;
// checksums of sections are not compared.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "index/core/segment/fitted_header.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_reader.h"

namespace {

using search::index::Field;
using search::index::PostingCursor;
using search::index::Segment;

void WalkPostings(const Segment& segment, const search::index::TermEntry& entry) {
  std::vector<uint32_t> positions;
  PostingCursor cursor(segment.postings(), entry, segment.document_count());
  while (cursor.Next() != search::index::kNoDocument) {
    if (segment.doc_ids()[cursor.ordinal()] == 0) continue;
    for (const Field field : {Field::kBody, Field::kTitle, Field::kExtra}) {
      cursor.DecodePositions(field, &positions);
    }
  }
  PostingCursor seeking(segment.postings(), entry, segment.document_count());
  uint32_t target = 0;
  while ((target = seeking.Seek(target)) != search::index::kNoDocument) target += 3;
}

void Walk(const std::string& bytes, bool verify) {
  auto file = search::index::SectionFile::FromBytes(bytes, "fuzz", search::index::kSegmentKind,
                                                    {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto segment = Segment::FromFile(std::move(*file));
  if (!segment.ok()) return;
  for (uint64_t doc_id = 0; doc_id < 400; ++doc_id) {
    const auto ordinal = (*segment)->FindDocument(doc_id);
    if (ordinal.has_value() && (*segment)->doc_ids()[*ordinal] != doc_id) std::abort();
  }
  search::index::TermCursor terms((*segment)->terms());
  for (int count = 0; count < 10'000 && terms.Next(); ++count) {
    WalkPostings(**segment, terms.entry());
    (void)(*segment)->terms().Find(terms.key());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Walk(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  Walk(bytes, /*verify=*/false);
  return 0;
}
