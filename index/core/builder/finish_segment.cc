#include "index/core/builder/finish_segment.h"

#include <unistd.h>

#include "index/core/segment/format.h"
#include "neptune/base/strings.h"

namespace search::index {

neptune::StatusOr<SegmentSummary> FinishSegment(SegmentWriter& writer,
                                                const std::string& directory) {
  ::unlink(neptune::StrCat(directory, "/", kStatisticsFileName).c_str());
  SegmentSummary summary;
  NEPTUNE_ASSIGN_OR_RETURN(summary.size, writer.Finish());
  const SegmentTotals& totals = writer.totals();
  summary.document_count = totals.document_count;
  summary.term_count = totals.term_count;
  summary.posting_count = totals.posting_count;
  summary.token_count = totals.token_count;
  return summary;
}

}  // namespace search::index
