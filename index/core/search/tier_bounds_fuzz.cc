// Reads any bytes as the bounds of tier 2 beside a small segment: refused, or a bound for each term
// of the segment. The header is made to fit, and checksums of sections are not compared.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "index/core/search/sample_collection.h"
#include "index/core/search/tier_bounds.h"
#include "index/core/segment/fitted_header.h"
#include "index/core/segment/format.h"
#include "index/core/testing/collection.h"

namespace {

using search::index::SectionFile;
using search::index::Segment;
using search::index::TierBounds;

class Sample {
 public:
  Sample() {
    if (!search::index::BuildSampleCollection(folder_.path()).ok()) std::abort();
    auto segment = Segment::Open(folder_.path());
    if (!segment.ok()) std::abort();
    segment_ = std::move(*segment);
  }

  void Check(const std::string& bytes, bool verify) const {
    auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kTierBoundsKind,
                                       {.verify_checksums = verify});
    if (!file.ok()) return;
    const auto bounds = TierBounds::FromFile(std::move(*file), *segment_);
    if (!bounds.ok()) return;
    if ((*bounds)->words().size() != segment_->terms().term_count()) std::abort();
    uint64_t sum = 0;
    for (const search::index::WordBound& word : (*bounds)->words()) sum += word.document_count;
    if (sum == 1 && (*bounds)->document_count() == 0) return;  // reads every byte
  }

 private:
  search::index::TemporaryFolder folder_;
  std::unique_ptr<Segment> segment_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Sample sample;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  sample.Check(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  sample.Check(bytes, /*verify=*/false);
  return 0;
}
