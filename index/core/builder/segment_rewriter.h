// Writes documents of segments into one new segment under new ordinals; shared by merging and
// reordering.
//
// Reads mapped segments, writes files; no clock.
// Threads: pure except for files.
// Errors: INVALID_ARGUMENT for segments with and without positions together; DATA_LOSS for a
//   damaged segment; those of SegmentWriter.
// Limits: 8 bytes per document in addition to SegmentWriter's; if new ordinals do not ascend with
//   the old ones, also the largest posting list decoded.

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

// The new ordinal of a document that is left out.
inline constexpr uint32_t kLeftOut = UINT32_MAX;

struct RewriteInput {
  const Segment* segment = nullptr;
  // New ordinals by old ordinal.
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

  // Writes terms until they had `posting_count_max` postings in total; the last term is written
  // whole. Returns false after the last term. After an error the rewrite must be destroyed.
  neptune::StatusOr<bool> Step(uint64_t posting_count_max);
  // Assembles the file; takes as long as copying it. REQUIRES: Step returned false.
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  class Rep;
  explicit SegmentRewrite(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

// Runs the whole rewrite. The segment has the bytes that building it from its documents yields.
// Field lengths are summed up from frequencies; those of imported postings, which may differ, from
// the length codes, each decoded to the middle of its range.
// REQUIRES: the new ordinals are 0 to document_count - 1, each once.
neptune::StatusOr<SegmentSummary> RewriteSegments(const std::vector<RewriteInput>& inputs,
                                                  uint32_t document_count,
                                                  const std::string& directory);

}  // namespace search::index
