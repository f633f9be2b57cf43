// Maps the number of an imported document to its tier, partition and ordinal there. The mapping
// needs no document, because a CIFF file's postings precede its documents.
//
// Threads: immutable.
// The first `tier1_count` documents form tier 1; in both tiers the partition is the document number
// modulo the partition count, as everywhere in an index.

#pragma once

#include <algorithm>
#include <cstdint>

namespace search::tools {

struct Place {
  uint32_t tier = 0;  // 0 or 1
  uint32_t partition = 0;
  uint32_t ordinal = 0;
};

class DocumentPlacement {
 public:
  // REQUIRES: partition_count > 0.
  DocumentPlacement(uint32_t tier1_count, uint32_t partition_count)
      : tier1_count_(tier1_count), partition_count_(partition_count) {}

  Place Of(uint32_t docid) const {
    Place place;
    place.tier = docid < tier1_count_ ? 0 : 1;
    place.partition = docid % partition_count_;
    place.ordinal = docid / partition_count_;
    if (place.tier == 1) place.ordinal -= Tier1CountOf(place.partition);
    return place;
  }

 private:
  // Number of tier 1 documents in the partition.
  uint32_t Tier1CountOf(uint32_t partition) const {
    if (tier1_count_ <= partition) return 0;
    return (tier1_count_ - partition - 1) / partition_count_ + 1;
  }

  uint32_t tier1_count_;
  uint32_t partition_count_;
};

}  // namespace search::tools
