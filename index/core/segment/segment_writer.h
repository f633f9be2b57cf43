// Writes a segment: documents by ascending ordinal, terms by ascending key, each term with its
// postings. If doc_ids do not ascend, the segment is marked as reordered.
//
// Format: format.md.
// Writes `segment` and two temporary files in the folder.
// Threads: thread-compatible.
// Errors: UNAVAILABLE (file system), RESOURCE_EXHAUSTED (more than 4 GiB of postings of one term).
//   The first error is kept; Finish returns it.
// Limits: memory is 16 bytes per document (20 if reordered), 12 bytes per posting block, and the
//   term dictionary.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/core/segment/file_appender.h"
#include "index/core/segment/format.h"
#include "index/core/segment/posting_block.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/term_dictionary.h"
#include "neptune/base/status.h"

namespace search::index {

class SegmentWriter {
 public:
  static neptune::StatusOr<std::unique_ptr<SegmentWriter>> Create(
      const std::string& directory, Durability durability = Durability::kSynced);
  ~SegmentWriter();  // removes the temporary files
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  // REQUIRES: doc_id differs from all others.
  void AddDocument(uint64_t doc_id, float static_rank,
                   const std::array<uint32_t, kFieldCount>& lengths);
  // Adds a document of another segment whose length codes are known. The total lengths of all such
  // documents must be added by AddLengthSums.
  void AddCodedDocument(uint64_t doc_id, float static_rank, uint32_t length_codes);
  void AddLengthSums(const std::array<uint64_t, kFieldCount>& sums);
  uint32_t document_count() const { return static_cast<uint32_t>(doc_ids_.size()); }

  // Marks the segment as one without positions; AddPosting must then be called without positions.
  void OmitPositions() { totals_.flags |= kWithoutPositionsFlag; }

  // Documents may be added before or after the terms that refer to them.
  // REQUIRES: key greater than the last; at least one posting before EndTerm.
  void BeginTerm(std::string_view key);
  // REQUIRES: ordinal greater than the last. `position_gaps`: ordered by field, their number is the
  // sum of the frequencies; for each field its first position, then gaps.
  void AddPosting(uint32_t ordinal, const std::array<uint32_t, kFieldCount>& frequencies,
                  std::span<const uint32_t> position_gaps);
  void EndTerm();

  // Returns the size of the file.
  neptune::StatusOr<uint64_t> Finish();
  const SegmentTotals& totals() const { return totals_; }

 private:
  SegmentWriter(std::string directory, Durability durability)
      : directory_(std::move(directory)), durability_(durability) {}

  void FlushBlock();
  neptune::Status Close();
  std::vector<uint32_t> DocIdOrder() const;

  const std::string directory_;
  const Durability durability_;
  SegmentTotals totals_;
  std::vector<uint64_t> doc_ids_;
  std::vector<float> static_ranks_;
  std::vector<uint32_t> length_codes_;

  TermDictionaryBuilder terms_;
  FileAppender postings_;
  FileAppender positions_;
  std::vector<uint32_t> block_lasts_;
  std::vector<BlockOffsets> block_offsets_;
  neptune::Status failure_;

  // The term being written.
  std::string key_;
  TermEntry entry_;
  uint32_t first_possible_ = 0;
  std::vector<uint32_t> term_lasts_;
  std::vector<BlockOffsets> term_offsets_;
  PostingBlockInput block_;
  std::string scratch_;
};

}  // namespace search::index
