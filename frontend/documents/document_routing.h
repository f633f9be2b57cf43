// Which partitions of which services a change of a document goes to: the one that holds it in both tiers and in the
// document servers. One tier gets the document, the other a removal, with the same version, so that a document may move
// between them and writers may cross.
//
// Source: the index builder's partitions (document number modulo their count).
// Pure.
// Threads: pure functions.
// Limits: a change has kDocumentsOfChangeMax documents and half of kPartitionChangeSizeMax bytes at most.

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

// Whether a document belongs to tier 1: by a rank of its own, tier1_rank_min and more; else where it is; a new one yes,
// because tier 1 is always asked.
bool BelongsToTier1(const DocumentEdit& edit, bool is_in_tier2, float tier1_rank_min);

struct PlacedEdit {
  const DocumentEdit* edit = nullptr;
  bool in_tier1 = true;  // of a removal: not looked at
  uint64_t version = 0;
};

// In the order of the edits for each partition. REQUIRES: different documents.
std::vector<RoutedChange> RouteEdits(const std::vector<PlacedEdit>& edits,
                                     const DocumentPartitions& partitions);

}  // namespace search::frontend
