// Answers queries from one segment: the matching documents, best first, and their number.
//
// Source: MaxScore [Turtle95] with block maxima [Ding11] in windows of
//   documents; README.md of index/core explains the plans.
// No I/O but page faults of the mapped segment; no clock, no locks.
// Threads: Searcher is immutable, any number of threads may search at once.
// Errors: DATA_LOSS if a posting list turns out damaged; INVALID_ARGUMENT for a phrase over a
//   segment without positions, and for live documents of another segment.
// Limits: kHitCountMax hits; the query's own limits (index/core/query). A search takes about 4 KiB
//   of memory per term of the query plus 32 KiB.
//
// Results are exact: behave as if every document were matched and scored, then sorted by descending
// score and ascending doc_id, and cut to k. Deleted documents (SearchOptions::live_documents)
// behave as if absent, but still count in the statistics that the searcher was created with.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/rerank/second_phase.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/explanation.h"
#include "index/core/search/ranking.h"
#include "index/core/search/search_result.h"
#include "index/core/search/site_counter.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kHitCountMax = 10'000;

struct SearchOptions {
  // Number of hits, capped at kHitCountMax. 0 with count_exactly: count only.
  size_t k = 10;
  // True: `total` must be exact. Requires a separate plan.
  bool count_exactly = false;
  // Documents that were not deleted; others never match, score or count. nullptr: all live. Must
  // cover as many documents as the segment, else INVALID_ARGUMENT.
  const LiveDocuments* live_documents = nullptr;
  // Polled before each prefix and every few thousand postings; true ends the search with the best
  // hits found so far. May be empty.
  std::function<bool()> stop = {};
  // Called with the postings that the search may read, approximately, before it reads them. May be
  // empty. A search of several segments calls it for each.
  std::function<void(uint64_t postings)> expect = {};
  // Scores every matching document. The result is the same; for tests and comparisons.
  bool exhaustive = false;
  // Number of best documents by first score that the second phase rates and reorders, capped at
  // kHitCountMax. 0, the default, or k = 0: no second phase.
  size_t second_phase_count = 0;
  // True: the newest documents instead of the best, as date_ranker.h says; without second phase,
  // all matches are counted. Visits all of them.
  bool by_date = false;
  // REQUIRES: IsValid, else INVALID_ARGUMENT.
  SecondPhaseWeights second_phase = {};
};

// Documents for the second phase to rate. Larger: a lower-ranked document can still reach the top,
// at the cost of finding and rating more. Default: with 50, nDCG@10 is that of 200 on all judged
// collections (README.md); with 20 it is .002 less in the mean.
inline constexpr size_t kSecondPhaseCountDefault = 50;

class Searcher {
 public:
  // Both must outlive the searcher. The bounds in `statistics` are used for pruning if they were
  // computed for `options`; with other options results are still right, but slower.
  // Errors: INVALID_ARGUMENT for impossible options.
  static neptune::StatusOr<std::unique_ptr<Searcher>> Create(const Segment& segment,
                                                             const CollectionStatistics& statistics,
                                                             const RankingOptions& options = {});

  ~Searcher();
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  // Query semantics: index/core/query. Every positive term of the query that a document holds adds
  // to its score, whichever branch matched. A query that matches nothing (empty, only exclusions,
  // no words) returns no hits and an exact total of 0.
  neptune::StatusOr<SearchResult> Search(const Query& query, const SearchOptions& options) const;

  // Counts all matching documents by site; of the options only live_documents and stop matter.
  // Reads all postings of the query's words.
  // Errors: RESOURCE_EXHAUSTED if the segment has more than kSiteColumnNamesMax names of sites.
  neptune::StatusOr<SiteCounts> CountSites(const Query& query, const SearchOptions& options) const;

  // Bytes of memory allocated when the searcher was created (impact_table.h, site_column.h).
  size_t memory_size() const;

  // Breaks down the document's score, with the same numbers as in its hit. The gain is what the
  // second phase computes if it rates the document.
  // Errors: INVALID_ARGUMENT for impossible weights.
  neptune::StatusOr<Explanation> Explain(const Query& query, uint64_t doc_id,
                                         const SecondPhaseWeights& second_phase = {}) const;

 private:
  class Rep;
  explicit Searcher(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
