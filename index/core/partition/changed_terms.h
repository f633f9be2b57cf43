// The difference that a partition's changes made to the counts of its published collection. The
// partitions exchange these so that they rank as one index again. Its size is that of the changes'
// vocabulary, not of the partition's.
//
// Threads: pure functions over mapped files; ChangedTermsSum is thread-compatible.
// Errors: DATA_LOSS for a damaged file; RESOURCE_EXHAUSTED over kChangedTermsMax.
// Limits: kChangedTermsMax terms per partition, and per sum.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "index/core/document.h"
#include "index/core/partition/collection_terms.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kChangedTermsMax = size_t{4} << 20;

struct ChangedTerm {
  std::string key;
  // Documents of the partition that hold it now, less those that held it when it was published; not
  // 0.
  int64_t difference = 0;
  // Document frequency in the whole published collection; 0: unknown to this partition, because
  // none of its published documents held the term.
  uint32_t published_frequency = 0;
};

struct ChangedTerms {
  // Number of documents of the whole collection when it was published.
  uint64_t published_document_count = 0;
  std::array<uint64_t, kFieldCount> published_length_sums = {};
  // Change of the partition's number of documents.
  int64_t document_difference = 0;
  std::array<int64_t, kFieldCount> length_differences = {};
  // Ascending by key.
  std::vector<ChangedTerm> terms;
};

// `living` counts what lives in the partition; `base` is its published segment and `published` what
// that knows of the collection.
neptune::StatusOr<ChangedTerms> FindChangedTerms(const CollectionTerms& living, const Segment& base,
                                                 const CollectionCounts& published);

// The sum over all partitions.
class ChangedTermsSum {
 public:
  // Terms may come in several pieces; differences of documents and lengths are in one of them.
  // Errors: FAILED_PRECONDITION if the piece was published with another collection than earlier
  // ones.
  neptune::Status Add(const ChangedTerms& piece);

  // Terms whose published frequency is unknown to all partitions that counted them, ascending.
  std::vector<std::string> UnknownTerms() const;
  // Records the published frequency of a term, as reported by a partition that knows it.
  void LearnPublishedFrequency(const std::string& key, uint32_t frequency);

  // The new counts of the changed terms, and of the collection as a whole.
  CollectionNumbers Numbers() const;

 private:
  struct Sum {
    int64_t difference = 0;
    uint32_t published_frequency = 0;
  };
  bool is_empty_ = true;
  CollectionNumbers totals_;  // numbers of documents; no terms
  std::array<uint64_t, kFieldCount> published_length_sums_ = {};
  uint64_t published_document_count_ = 0;
  std::map<std::string, Sum> terms_;
};

}  // namespace search::index
