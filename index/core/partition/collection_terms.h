// Collection-wide ranking statistics: number of documents, field lengths, and the document
// frequency of each term. All partitions of a collection use the same ones, so that they rank as
// one index; they are renewed from time to time, not with each document.
//
// Format: README.md.
// Reads and writes one file.
// Threads: immutable.
// Errors: NOT_FOUND, DATA_LOSS, UNAVAILABLE.
// Limits: keys of kTermKeySizeMax bytes; writing holds the dictionary in memory.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/core/document.h"
#include "index/core/partition/collection_counts.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/segment_reader.h"
#include "index/core/segment/term_dictionary.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr FileKind kCollectionTermsKind = {.magic = 0x5443504e, .version = 1};  // "NPCT"

class CollectionTerms : public CollectionCounts {
 public:
  static neptune::StatusOr<std::shared_ptr<const CollectionTerms>> Open(const std::string& path);
  // Reads from a container that is already open.
  static neptune::StatusOr<std::shared_ptr<const CollectionTerms>> FromFile(
      std::unique_ptr<SectionFile> file);

  uint64_t document_count() const override { return document_count_; }
  const std::array<uint64_t, kFieldCount>& length_sums() const override { return length_sums_; }
  const TermDictionary& terms() const { return terms_; }
  neptune::StatusOr<uint32_t> DocumentFrequency(std::string_view key) const override;

 private:
  CollectionTerms() = default;

  std::unique_ptr<SectionFile> file_;
  uint64_t document_count_ = 0;
  std::array<uint64_t, kFieldCount> length_sums_ = {};
  TermDictionary terms_;
};

struct CountedSegment {
  const Segment* segment = nullptr;
  // nullptr: all live.
  const LiveDocuments* live = nullptr;
};

// Counts what lives in the segments and writes `path`. Where documents are deleted, all postings
// are read. The lengths of deleted documents of imported postings are taken from their codes.
neptune::Status CountTerms(const std::vector<CountedSegment>& segments, const std::string& path);

// Adds up the counts of disjoint sets of documents, and writes `path`.
neptune::Status AddTerms(const std::vector<const CollectionTerms*>& parts, const std::string& path);

// Counts that were computed elsewhere.
struct CollectionNumbers {
  uint64_t document_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
  // Ascending by key; frequencies of 0 are omitted.
  std::vector<std::pair<std::string, uint32_t>> document_frequencies;
};
neptune::Status WriteTerms(const CollectionNumbers& numbers, const std::string& path);

}  // namespace search::index
