// Turns documents into what a foreign engine indexes: each term with its positions by field, and the
// fixed record that ranking needs.
//
// Source: index/core/analysis; what is indexed is what the index core would.
// Threads: thread-compatible.
// Errors: those of TierBuilder::Add. After one, all further calls give it again.
// Limits: kFieldTokensMax words a field; 2^32 - 1 documents.

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

class DocumentInverter {
 public:
  DocumentInverter();

  // Replaces terms() and record() by those of the document; its ordinal is document_count() before the call.
  neptune::Status Add(const IndexedDocument& document);

  // By term; sites by Segment::SiteKey.
  const absl::flat_hash_map<std::string, FieldPositions>& terms() const { return terms_; }
  // Places of all terms, by field, and one for each term.
  size_t posting_count() const { return posting_count_; }
  const DocumentRecord& record() const { return record_; }
  // Of all documents so far.
  const PartitionRecord& partition() const { return partition_; }

 private:
  neptune::Status Check(const IndexedDocument& document) const;
  // Both add to terms_; AddField returns the number of words indexed.
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
