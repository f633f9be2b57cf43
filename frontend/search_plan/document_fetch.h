// Fetches the documents of a page from their partitions, all at once.
//
// Source: design 5 (documents by partition in parallel; a failed one costs summaries, not the page).
// Layer: frontend/search_plan, agent. Threads: on a user-level thread; one more for each partition
//   but the last.
// Limits: SearchPlanOptions::document_timeout; docserver::kFetchCountMax documents a page.

#pragma once

#include <string>
#include <vector>

#include "docserver/docserver.pb.h"
#include "frontend/answer.h"
#include "frontend/search_plan/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

// Which documents, and the query whose words their snippets show.
struct DocumentRequest {
  std::vector<uint64_t> doc_ids;
  std::string canonical_query;
};

struct FetchedDocuments {
  // One for each doc_id; `found` is false where there is none.
  std::vector<docserver::Summary> summaries;
  ServiceCoverage coverage;
};

FetchedDocuments FetchSummaries(neptune::ClientSession& session, const DocumentRequest& request,
                                const SearchPlanOptions& options);

// One document with its whole text.
// Errors: NOT_FOUND; UNAVAILABLE and DEADLINE_EXCEEDED its partition does not answer.
neptune::StatusOr<docserver::Summary> FetchText(neptune::ClientSession& session, uint64_t doc_id,
                                                const SearchPlanOptions& options);

}  // namespace search::frontend
