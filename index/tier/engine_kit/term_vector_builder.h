// Builds the term vector of one document at a time for a foreign engine: each term with its
// positions by field, and the fixed-size record that ranking needs. The terms are those of the
// index core (index/core/analysis).
//
// Threads: thread-compatible.
// Errors: those of TierBuilder::Add. Every call after the first error returns that error.
// Limits: kFieldTokensMax words per field; 2^32 - 1 documents.
// Source: index/core/analysis; what is indexed is what the index core would.

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

  // Replaces terms() and record() by those of `document`. The document's ordinal is the value of
  // partition().document_count before the call.
  neptune::Status Add(const IndexedDocument& document);

  // Positions of the current document, keyed by term; a site has the key Segment::SiteKey.
  const absl::flat_hash_map<std::string, FieldPositions>& terms() const { return terms_; }
  // Positions of the current document in all fields, plus one per distinct term.
  size_t posting_count() const { return posting_count_; }
  const DocumentRecord& record() const { return record_; }
  // Document count and field length sums over all documents added so far.
  const PartitionRecord& partition() const { return partition_; }

 private:
  neptune::Status Check(const IndexedDocument& document) const;
  // AddField and AddSite insert into terms_; AddField returns the number of words indexed.
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
