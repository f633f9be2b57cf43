// Chooses which segments of a partition to merge next, so that there are few segments and no
// document is rewritten often.
//
// Source: tiered compaction as in Lucene's TieredMergePolicy and log-structured merge trees.
// No I/O, no clock, no threads.
// Threads: pure function.
// Units: sizes are numbers of live documents.
//
// A segment's level is the power of merge_count by which it is larger than documents_min. As many
// segments of one level as merge_count become one of a higher level, lowest level first. So n
// documents that come one by one are rewritten log(n / documents_min) + 1 times, and there are at
// most merge_count - 1 segments a level.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace search::index {

struct SegmentShape {
  uint32_t document_count = 0;
  uint32_t live_count = 0;
};

struct MergePolicyOptions {
  // Segments of one level that are merged. Larger: less rewriting, more segments to search.
  // Default: five levels hold ten million documents in at most 36 segments.
  uint32_t merge_count = 10;
  // Smaller segments are treated as having this size. Default: a hundred of them cost a search
  // about 1 ms.
  uint32_t documents_min = 1000;
  // Maximal number of documents of a merged segment. Default: the maximum of a segment.
  uint32_t documents_max = uint32_t{1} << 28;
  // A segment of which a larger share is deleted is rewritten by itself. Default: a third, so that
  // a document is rewritten at most thrice for the space that deleted ones take.
  double deleted_share_max = 1.0 / 3;
};

// Indices of the segments to merge into one, ascending; empty if no merge is due. Ignores segments
// without live documents, which their owner drops.
// REQUIRES: merge_count >= 2, documents_min >= 1.
std::vector<size_t> ChooseMerge(std::span<const SegmentShape> segments,
                                const MergePolicyOptions& options);

}  // namespace search::index
