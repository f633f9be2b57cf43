// Any bytes as proteins, as a table of blastp, and as two answers that are merged for a query's
// limit: read or refused, written and read again, and never more hits than the limit.
//
// The first byte chooses; a merge has four bytes for the limit and two for the first answer's size.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/byte_order.h"
#include "neptune/examples/blast/blast_hits.h"
#include "neptune/examples/blast/protein_database.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune::examples {
namespace {

FuzzPlace read_protein("a protein is read");
FuzzPlace read_hit("a hit is read");
FuzzPlace merged_hits("hits are merged");

void CheckFasta(std::string_view text) {
  const auto proteins = ParseFasta(text);
  if (!proteins.ok()) return;
  std::string written;
  for (const Protein& protein : *proteins) written += ToFasta(protein);
  const auto again = ParseFasta(written);
  CHECK(again.ok() && again->size() == proteins->size());
  if (!proteins->empty()) read_protein.Reach();
}

void CheckMerge(std::string_view bytes) {
  ByteReader in(bytes);
  const uint32_t limit = in.Number<uint32_t>();
  const std::string_view first = in.Counted<uint16_t>();
  const std::string_view second = in.Bytes(in.remaining());
  BlastHits a;
  BlastHits b;
  const auto parse = [](std::string_view part, BlastHits* hits) {
    return hits->ParseFromArray(part.data(), static_cast<int>(part.size()));
  };
  if (!parse(first, &a) || !parse(second, &b)) return;
  const BlastHits merged = MergeBlastHits(a, b, limit);
  CHECK_LE(static_cast<uint32_t>(merged.hits_size()), limit);
  CHECK_LE(merged.hits_size(), a.hits_size() + b.hits_size());
  if (merged.hits_size() > 1) merged_hits.Reach();
}

}  // namespace
}  // namespace neptune::examples

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune::examples;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) CheckFasta(bytes);
  if (data[0] % 3 == 1) {
    const auto hits = ParseBlastTable(bytes);
    if (hits.ok() && hits->hits_size() > 0) read_hit.Reach();
  }
  if (data[0] % 3 == 2) CheckMerge(bytes);
  return 0;
}
