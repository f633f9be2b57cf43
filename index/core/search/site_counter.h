// Counts all documents that a query matches by site. Reads every posting of the query's words: it
// is not pruned.
//
// Threads: pure function over immutable parts.
// Errors: DATA_LOSS for damaged postings; those of MakeQueryPlan.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/site_column.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/site_list.h"
#include "neptune/base/status.h"

namespace search::index {

struct SiteCounts {
  // Sites with a matching document, each document at one site; ascending by name.
  std::vector<SiteCount> sites;
  // Matching documents, those without a site included.
  uint64_t total = 0;
  // False if counting was stopped: the numbers are then lower bounds.
  bool complete = true;
};

// `live` may be null: all documents are. `stop` may be empty; polled every few thousand postings.
// REQUIRES: the column is known, and that of the segment.
neptune::StatusOr<SiteCounts> CountSites(const SearchSpace& space, const SiteColumn& column,
                                         const Query& query, const LiveDocuments* live,
                                         const std::function<bool()>& stop);

}  // namespace search::index
