// The effect that changes of a partition's documents have on the counts of the collection it was
// published with: what the partitions must exchange to rank as one index again. Its size is that of
// the vocabulary of the changes, not of the partition.
//
// Pure, over mapped files.
// Threads: pure functions; ChangedTermsSum is thread-compatible.
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
  // Number of the partition's documents that hold the term now, minus those that held it when it
  // was published; never 0.
  int64_t difference = 0;
  // Number of documents of the whole published collection that held the term; 0: unknown, because
  // no document of this partition held it.
  uint32_t published_frequency = 0;
};

struct ChangedTerms {
  // Counts of the whole collection as it was published.
  uint64_t published_document_count = 0;
  std::array<uint64_t, kFieldCount> published_length_sums = {};
  // Differences of this partition.
  int64_t document_difference = 0;
  std::array<int64_t, kFieldCount> length_differences = {};
  // Ascending by key.
  std::vector<ChangedTerm> terms;
};

// `living` counts the live documents of the partition; `base` is its published segment, and
// `published` has the counts of the published collection.
neptune::StatusOr<ChangedTerms> FindChangedTerms(const CollectionTerms& living, const Segment& base,
                                                 const CollectionCounts& published);

// Sums up the changes counted by all partitions.
class ChangedTermsSum {
 public:
  // Terms may come in several pieces; exactly one piece carries the differences of documents and
  // lengths.
  // Errors: FAILED_PRECONDITION if the piece was published with another collection than the others.
  neptune::Status Add(const ChangedTerms& piece);

  // Changed terms of which no partition so far knows the published frequency, ascending.
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
  CollectionNumbers totals_;  // counts of documents and lengths; no terms
  std::array<uint64_t, kFieldCount> published_length_sums_ = {};
  uint64_t published_document_count_ = 0;
  std::map<std::string, Sum> terms_;
};

}  // namespace search::index
