// The end of writing a segment.
//
// Threads: a function.
// Errors: those of SegmentWriter::Finish.

#pragma once

#include <string>

#include "index/core/builder/segment_summary.h"
#include "index/core/segment/segment_writer.h"
#include "neptune/base/status.h"

namespace search::index {

// Finishes the segment that `writer` writes into `directory`, and removes the statistics of an
// earlier one there, which do not apply to it. The summary is of what was written, in one run.
neptune::StatusOr<SegmentSummary> FinishSegment(SegmentWriter& writer,
                                                const std::string& directory);

}  // namespace search::index
