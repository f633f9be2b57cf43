// Writes documents of segments into one new segment under new ordinals: the common part of merging
// and reordering.
//
// Reads mapped segments, writes files; no clock.
// Threads: thread-safe, given distinct directories.
// Errors: INVALID_ARGUMENT for a mix of segments with and without positions; DATA_LOSS for a
//   damaged segment; those of SegmentWriter.
// Limits: 8 bytes per document in addition to SegmentWriter's; and, if new ordinals do not ascend
//   with the old ones, the largest posting list, decoded.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/core/builder/segment_summary.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

// Marks a document without a new ordinal: it is left out.
inline constexpr uint32_t kLeftOut = UINT32_MAX;

struct RewriteInput {
  const Segment* segment = nullptr;
  // Indexed by the segment's ordinal.
  std::vector<uint32_t> new_ordinals;
};

// A rewrite that runs in steps, so that other work can run in between.
class SegmentRewrite {
 public:
  static neptune::StatusOr<std::unique_ptr<SegmentRewrite>> Begin(
      std::vector<RewriteInput> inputs, uint32_t document_count, const std::string& directory,
      Durability durability = Durability::kSynced);
  ~SegmentRewrite();  // removes its files unless it was finished
  SegmentRewrite(const SegmentRewrite&) = delete;
  SegmentRewrite& operator=(const SegmentRewrite&) = delete;

  // Writes terms until they have `posting_count_max` postings in total; the last term is written as
  // a whole. Returns false if no terms are left. After an error the object must be destroyed.
  neptune::StatusOr<bool> Step(uint64_t posting_count_max);
  // Assembles the file; takes as long as copying it. REQUIRES: Step returned false.
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  class Rep;
  explicit SegmentRewrite(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

// Does all steps at once. The segment has the bytes that a build from its documents gives. Field
// lengths are summed up from the frequencies; for imported postings, whose lengths may differ, from
// the length codes, each taken as the midpoint of its range.
// REQUIRES: the new ordinals are 0 to document_count - 1, each once.
neptune::StatusOr<SegmentSummary> RewriteSegments(const std::vector<RewriteInput>& inputs,
                                                  uint32_t document_count,
                                                  const std::string& directory);

}  // namespace search::index
