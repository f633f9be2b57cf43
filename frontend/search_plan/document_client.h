// Fetches the documents of a page from their partitions in parallel.
//
// If the options enable hedging, a partition that has not answered within the 95th percentile of
// the latest answers is also asked at another replica; the first answer is used. The node's retry
// budget bounds the number of hedged requests.
//
// Threads: thread-safe; calls on a user-level thread; one more thread for each partition but the
//   last.
// Limits: SearchPlanOptions::document_timeout; docserver::kFetchCountMax documents a page.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "docserver/docserver.pb.h"
#include "frontend/model/answer.h"
#include "frontend/policy/plan_options.h"
#include "index/tier/titles.pb.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/capsule/recent_times.h"
#include "neptune/service/client.h"

namespace search::frontend {

// How long a page waits for the names of documents whose servers did not answer.
inline constexpr neptune::Duration kTitlesTimeMax = std::chrono::milliseconds(100);

// The documents to fetch, and the query whose words their snippets highlight.
struct DocumentRequest {
  std::vector<uint64_t> doc_ids;
  std::string canonical_query;
  uint64_t index_version = 0;  // 0: the current one
  // Time by which the documents must be there; unset: SearchPlanOptions::document_timeout from now.
  std::optional<neptune::TimePoint> deadline = {};
  bool with_snippets = true;
  // Time by which titles must be there in place of documents, if kTitlesTimeMax is not over before.
  neptune::TimePoint titles_end = neptune::kNever;
};

struct FetchedDocuments {
  // One per doc_id; `found` is false if there is no such document.
  std::vector<docserver::Summary> summaries;
  ServiceCoverage coverage;
};

class DocumentClient {
 public:
  explicit DocumentClient(const SearchPlanOptions& options);

  FetchedDocuments FetchSummaries(neptune::ClientSession& session, const DocumentRequest& request);

  // Asks the index tiers for address and title of documents whose servers do not answer, for at
  // most kTitlesTimeMax and until `end`. Returns those that are known.
  index::TitlesAnswer FetchTitles(const neptune::ClientSession& session,
                                  const std::vector<uint64_t>& doc_ids, uint64_t index_version,
                                  neptune::TimePoint end) const;

  // False if pages have no summaries.
  bool makes_snippets() const { return shared_->options.snippet_size_max > 0; }

  // Fetches one document with its whole text.
  // Errors: NOT_FOUND; UNAVAILABLE and DEADLINE_EXCEEDED its partition does not answer.
  // REQUIRES: one number.
  neptune::StatusOr<docserver::Summary> FetchText(neptune::ClientSession& session,
                                                  const DocumentRequest& request);

 private:
  // State shared with the fetching threads, which may outlive the client.
  struct Shared {
    explicit Shared(const SearchPlanOptions& options) : options(options) {}
    // Delay before a second replica is asked; nullopt: no hedging.
    std::optional<neptune::Duration> HedgeAfter();
    void CountAnswer(neptune::Duration time);

    const SearchPlanOptions options;
    neptune::LeafMutex mutex;
    neptune::RecentTimes times ABSL_GUARDED_BY(mutex);
  };
  struct PageFetch;
  static neptune::StatusOr<docserver::FetchResponse> Fetch(Shared& shared,
                                                           neptune::ClientSession& session,
                                                           uint32_t partition,
                                                           docserver::FetchRequest request,
                                                           neptune::TimePoint deadline);
  static void AskPartition(const std::shared_ptr<PageFetch>& fetch, uint32_t partition);
  static void AskAll(const std::shared_ptr<PageFetch>& fetch);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace search::frontend
