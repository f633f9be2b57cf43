// Any bytes as a chunk of a term's postings: it ends or is damaged, ordinals ascend, and positions
// are as many as the frequency says, or damaged.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "tools/bazel/fuzz/place.h"

namespace search::index::rocksdb_postings {
namespace {

neptune::FuzzPlace read_posting("a posting is read");
neptune::FuzzPlace read_positions("positions are read");
neptune::FuzzPlace found_damage("damage is found");

void Check(std::string_view bytes) {
  PostingChunkReader reader(bytes);
  Posting posting;
  std::vector<uint32_t> positions;
  uint64_t last = 0;
  bool is_first = true;
  while (reader.Next(&posting)) {
    read_posting.Reach();
    CHECK(is_first || posting.ordinal > last);
    is_first = false;
    last = posting.ordinal;
    for (const Field field : {Field::kBody, Field::kTitle, Field::kExtra}) {
      if (!DecodePositions(posting, field, &positions)) {
        found_damage.Reach();
        continue;
      }
      CHECK_EQ(positions.size(), posting.frequencies[static_cast<size_t>(field)]);
      if (!positions.empty()) read_positions.Reach();
    }
  }
  if (reader.damaged()) found_damage.Reach();
}

}  // namespace
}  // namespace search::index::rocksdb_postings

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::index::rocksdb_postings::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
