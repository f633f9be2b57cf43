// Reads any bytes as a segment: refused, or walked over completely without a crash or an
// unreasonable allocation. The header is made to fit first, so that damage behind it is reached;
// checksums of sections are not compared.

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_reader.h"

namespace {

using search::index::Field;
using search::index::PostingCursor;
using search::index::Segment;

constexpr size_t kHeaderSize = 32;
constexpr size_t kEntrySize = 32;

// Sets the size and checksum that the header should have.
void FitHeader(std::string* bytes) {
  if (bytes->size() < kHeaderSize) return;
  uint32_t section_count = 0;
  std::memcpy(&section_count, bytes->data() + 16, sizeof(section_count));
  const uint64_t size = bytes->size();
  std::memcpy(bytes->data() + 8, &size, sizeof(size));
  if (section_count > (bytes->size() - kHeaderSize) / kEntrySize) return;
  std::memset(bytes->data() + 24, 0, 8);
  const uint64_t checksum = XXH3_64bits(bytes->data(), kHeaderSize + section_count * kEntrySize);
  std::memcpy(bytes->data() + 24, &checksum, sizeof(checksum));
}

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
  FitHeader(&bytes);
  Walk(bytes, /*verify=*/false);
  return 0;
}
