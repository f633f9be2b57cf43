// Builds the term vector of each document of a partition for a foreign engine: every term with its
// positions by field, and the fixed-size record that ranking reads.
//
// Source: index/core/analysis; the terms are those that the index core would index.
// Threads: thread-compatible.
// Errors: as TierBuilder::Add. After an error every later call returns the same error.
// Limits: kFieldTokensMax words per field; 2^32 - 1 documents per partition.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/core/analysis/analyzer.h"
#include "index/core/document.h"
#include "index/tier/engine_kit/records.h"
#include "neptune/base/status.h"

namespace search::index {

class TermVectorBuilder {
 public:
  TermVectorBuilder();

  // Replaces terms() and record() by those of `document`. The document's ordinal is
  // partition().document_count before the call.
  neptune::Status Add(const IndexedDocument& document);

  // Positions by term. A site is stored under Segment::SiteKey, without positions.
  const absl::flat_hash_map<std::string, FieldPositions>& terms() const { return terms_; }
  // Number of positions over all terms and fields, plus one per term.
  size_t posting_count() const { return posting_count_; }
  const DocumentRecord& record() const { return record_; }
  // Sums over all documents added so far.
  const PartitionRecord& partition() const { return partition_; }

 private:
  neptune::Status Check(const IndexedDocument& document) const;
  // Both add to terms_. AddField returns the number of words indexed.
  uint32_t AddField(Field field, std::string_view text);
  void AddSite(std::string_view site);

  Analyzer analyzer_;
  std::vector<Token> tokens_;
  absl::flat_hash_map<std::string, FieldPositions> terms_;
  size_t posting_count_ = 0;
  DocumentRecord record_;
  PartitionRecord partition_;
  neptune::Status status_;
};

}  // namespace search::index
