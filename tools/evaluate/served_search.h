// Asks a search over HTTP, as its users do, and keeps the answers as ranked lists.
//
// Pages through each answer. A refused request (429, 503) is repeated after a pause, because
// quality is measured here and not capacity.
// Threads: AskAll asks from threads of its own and joins them; the other functions block.
// Errors: those of the first query, in their order, that got no answer, with its id: UNAVAILABLE,
//   DEADLINE_EXCEEDED; INVALID_ARGUMENT the search refused the query, or an option is out of range;
//   RESOURCE_EXHAUSTED it refused all attempts.
// Limits: ServedSearchOptions.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"
#include "neptune/base/status.h"
#include "tools/evaluate/judged_queries.h"
#include "tools/evaluate/run_file.h"
#include "tools/http/http_get.h"

namespace search::tools {

inline constexpr size_t kServedDepthMin = 10;
inline constexpr size_t kServedDepthMax = 1000;
inline constexpr int kServedConcurrencyMax = 16;

struct ServedSearchOptions {
  // Results read of each query, kServedDepthMin to kServedDepthMax. Larger: more pages for each.
  // Default: one request of the largest page.
  size_t depth = 100;
  // Requests under way, 1 to kServedConcurrencyMax. Default: few, so that the time limits of a
  // search on a small machine do not cut answers.
  int concurrency = 2;
  // Asks for folded pages of the size that people get, and reads what is shown. False: every ranked
  // result is read, which the request asks for explicitly.
  bool folds = false;
  // Asks with syntax=plain: nothing in a query is an operator. False: as users type queries, whose
  // quotation marks demand phrases.
  bool is_plain = false;
  // Limit of one attempt, from connecting to the last byte.
  std::chrono::milliseconds timeout{10'000};
  // Attempts for one page while the search refuses, and the pause after each refusal.
  int attempt_count_max = 50;
  std::chrono::milliseconds pause{200};
};

struct ServedList {
  std::vector<RunEntry> entries;
  // Some page of it was incomplete: a partition did not answer, or not in time.
  bool is_partial = false;
};

struct ServedRun {
  RankedLists lists;  // has an entry for each query, which may be empty
  size_t query_count = 0;
  size_t empty_count = 0;
  size_t partial_count = 0;
};

// Fetches one page of results. Called on several threads at a time.
using FetchPage = std::function<neptune::StatusOr<frontend::SearchAnswer>(
    const frontend::SearchPageRequest& request)>;

// Pages of the search at `server`, asked without its cache.
FetchPage PagesOf(const HttpOrigin& server, const ServedSearchOptions& options);

// The first `depth` results that are shown for the text, page by page. The score of an entry is its
// negated rank, so that the order in which a run is judged is the order in which users see it, also
// among equal scores. The document is the url without the prefix "id:", which the index builder
// puts before ids; a result without a summary counts as an unknown document.
neptune::StatusOr<ServedList> ReadPages(const std::string& text, const ServedSearchOptions& options,
                                        const FetchPage& fetch);

neptune::StatusOr<ServedRun> AskAll(const std::vector<JudgedQuery>& queries,
                                    const ServedSearchOptions& options, const FetchPage& fetch);

}  // namespace search::tools
