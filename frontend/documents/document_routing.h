// Routes a change of a document to its partition of both tiers and of the document servers. One
// tier gets the document, the other a removal with the same version, so that a document may move
// between tiers and concurrent writers agree on the result.
//
// The partition is the document number modulo the partition count, as in the index builder.
// Threads: pure functions.
// Limits: a change has kDocumentsOfChangeMax documents and half of kPartitionChangeSizeMax bytes at
//   most.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/documents/document_edit.h"
#include "index/updates/document_change.pb.h"

namespace search::frontend {

struct DocumentPartitions {
  uint32_t tier1 = 1;
  uint32_t tier2 = 1;  // 0: there is no tier 2
  uint32_t documents = 1;
};

struct RoutedChange {
  std::string service;
  uint32_t partition = 0;
  index::PartitionChange change;
};

// True if the document belongs to tier 1: if the edit gives a rank, that rank is at least
// tier1_rank_min; otherwise the document stays where it is, and a new document goes to tier 1
// because tier 1 is always asked.
bool BelongsToTier1(const DocumentEdit& edit, bool is_in_tier2, float tier1_rank_min);

struct PlacedEdit {
  const DocumentEdit* edit = nullptr;
  bool in_tier1 = true;  // ignored for a removal
  uint64_t version = 0;
};

// Each partition's changes are in the order of the edits. REQUIRES: all documents are different.
std::vector<RoutedChange> RouteEdits(const std::vector<PlacedEdit>& edits,
                                     const DocumentPartitions& partitions);

}  // namespace search::frontend
