// Turns the ranked hits of a page into its results: fetches their documents and folds those that
// belong behind others (frontend/policy/result_folding.h).
//
//   documents of the page ─► fold ── full, or nothing as good is left ─────────────► results
//                             └─ else ─► the next ones without snippets ─► fold ─► snippets ─┘
//
// A page on which nothing is folded costs what it costs without folding. A page without summaries
// fetches no documents if the tiers have named its hits. Documents whose servers do not answer are
// named by the tiers, and marked as without a summary.
//
// Threads: on a user-level thread.
// Limits: 2 + kMoreRoundsMax rounds of requests, all until the deadline of the request; documents
// of
//   kFoldCandidatesMax ranked results.

#pragma once

#include <cstdint>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/policy/page_window.h"
#include "frontend/policy/result_folding.h"
#include "frontend/search_plan/document_client.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"
#include "neptune/service/client.h"

namespace search::frontend {

// Rounds for what takes the places of folded results: first as far as the scores say, then for the
// places that near-duplicates have left.
inline constexpr int kMoreRoundsMax = 2;

class PageDocuments {
 public:
  // `request` has everything but the numbers of the documents. All outlive the object.
  PageDocuments(DocumentClient& client, neptune::ClientSession& session,
                const DocumentRequest& request)
      : client_(client), session_(session), request_(request) {}

  // Adds the results of the page to *answer, with covered_count and the coverage of the documents.
  // `hits`: best first, from the ranking's beginning. `folds_sites`: further results of a site are
  // folded too, if the page folds. Returns the number of ranked results that the page depends on.
  uint32_t Fill(const index::TierAnswer& hits, const PageWindow& page, bool folds_sites,
                SearchAnswer* answer);

 private:
  // Fetches the documents of hits [begin, end).
  void FetchNext(const index::TierAnswer& hits, size_t begin, size_t end, bool with_snippets,
                 SearchAnswer* answer);
  bool AreNamed(const index::TierAnswer& hits, size_t begin, size_t end) const;
  void NameMissing(size_t begin);
  // Folds with as many further documents as could take the place of folded ones.
  FoldedPage FoldWithMore(const index::TierAnswer& hits, const PageWindow& page, FoldingRules rules,
                          SearchAnswer* answer);
  // Fetches the snippets of shown results from candidate `begin` on.
  void FetchSnippets(const FoldedPage& folded, size_t begin, SearchAnswer* answer);
  void TakeAll(SearchAnswer* answer);
  void TakeFolded(const FoldedPage& folded, SearchAnswer* answer);

  DocumentClient& client_;
  neptune::ClientSession& session_;
  const DocumentRequest& request_;
  // The ranked results that were fetched, in their order.
  std::vector<SearchResult> fetched_;
  std::vector<FoldCandidate> candidates_;
  std::vector<uint64_t> doc_ids_;
};

}  // namespace search::frontend
