// A small real index for tests of the whole search: both tiers, document stores, and a single
// partition with all documents, which serves as the oracle.
//
//   FOLDER/tier1/P, FOLDER/tier2/P   best share by static rank, and the rest; document number mod P
//   FOLDER/docs/P                    document stores
//   FOLDER/single/0                  all documents in one segment
//
// Writes files; no clock; randomness only from seeds.
// Threads: thread-compatible.
// Errors: those of the builders.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/core/testing/documents.h"
#include "neptune/base/status.h"

namespace search::tests {

// At most this many documents, so that one page of answers can hold every match.
inline constexpr size_t kDocumentCountMax = 1000;

struct SmallCorpus {
  // Ascending by doc_id.
  std::vector<index::TestDocument> documents;
  std::vector<std::string> urls;  // urls[i] belongs to documents[i]
  // Different for different documents, as with tools/build_index.
  uint64_t index_version = 1;
};

// The pages of testdata/pages.jsonl, licence texts of the system and synthetic Zipf documents.
SmallCorpus MakeSmallCorpus(uint64_t seed);

struct IndexShape {
  uint32_t tier1_partitions = 4;
  uint32_t tier2_partitions = 4;
  uint32_t document_partitions = 2;
  // Fraction of the documents in tier 1.
  double tier1_share = 0.25;
  std::string tier_implementation = "segment";
  std::string store_implementation = "rocksdb";
};

// Tier and partition of each document.
class Placement {
 public:
  Placement(const SmallCorpus& corpus, const IndexShape& shape);

  // REQUIRES for all functions: the document is in the corpus.
  bool in_tier1(uint64_t doc_id) const { return in_tier1_[PositionOf(doc_id)]; }
  // Partition within its tier.
  uint32_t tier_partition(uint64_t doc_id) const;
  uint32_t document_partition(uint64_t doc_id) const;
  const IndexShape& shape() const { return shape_; }

 private:
  size_t PositionOf(uint64_t doc_id) const;

  const IndexShape shape_;
  std::vector<uint64_t> doc_ids_;  // ascending
  std::vector<bool> in_tier1_;     // by position
};

// Builds everything below `folder`.
neptune::Status BuildSmallIndex(const std::string& folder, const SmallCorpus& corpus,
                                const Placement& placement);

}  // namespace search::tests
