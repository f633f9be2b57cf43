// Details of a search over the segments of one partition: explanations of scores, and counts by
// site.
//
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for a query that does not parse; DATA_LOSS.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

struct SearchedSegment {
  const Segment* segment;
  const Searcher* searcher;
  const LiveDocuments* live;  // null: all documents are
};

// Explains the live documents, with the numbers that a search gives.
neptune::StatusOr<ExplainAnswer> ExplainDocuments(const std::vector<SearchedSegment>& segments,
                                                  const ExplainQuery& query,
                                                  uint64_t index_version);

neptune::StatusOr<FacetAnswer> CountSites(const std::vector<SearchedSegment>& segments,
                                          const FacetQuery& query, const TierSearchControl& control,
                                          uint64_t index_version);

// If the answer found nothing, names those of the fields by which the query filters that some
// document has.
neptune::Status NameFields(const std::vector<const Segment*>& segments, const Query& query,
                           TierAnswer* answer);

}  // namespace search::index
