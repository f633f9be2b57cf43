#include "tools/evaluate/served_search.h"

#include <poll.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/corpus/ordered_parallel.h"
#include "tools/search/answer_reader.h"

namespace search::tools {
namespace {

using frontend::SearchAnswer;
using frontend::SearchPageRequest;
using frontend::SearchRequestLimits;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

// Lists read ahead of the one that is next in order.
constexpr size_t kWindow = 64;
constexpr std::string_view kIdPrefix = "id:";

bool IsRefusal(int http_status) { return http_status == 429 || http_status == 503; }

std::string DocumentOf(const frontend::SearchResult& result) {
  if (!result.has_summary || result.url.empty()) return StrCat("unknown:", result.doc_id);
  const std::string_view url = result.url;
  return std::string(url.starts_with(kIdPrefix) ? url.substr(kIdPrefix.size()) : url);
}

Status CheckOptions(const ServedSearchOptions& options) {
  if (options.depth < kServedDepthMin || options.depth > kServedDepthMax) {
    return InvalidArgument("depth must be ", kServedDepthMin, " to ", kServedDepthMax);
  }
  if (options.concurrency < 1 || options.concurrency > kServedConcurrencyMax) {
    return InvalidArgument("concurrency must be 1 to ", kServedConcurrencyMax);
  }
  return neptune::OkStatus();
}

}  // namespace

FetchPage PagesOf(const HttpOrigin& server, const ServedSearchOptions& options) {
  return [server, options](const SearchPageRequest& request) -> StatusOr<SearchAnswer> {
    const std::string path = frontend::SearchPath(request);
    for (int attempt = 1;; ++attempt) {
      NEPTUNE_ASSIGN_OR_RETURN(
          const neptune::HttpResponse response,
          HttpGet(server, path, {{"Accept", "application/json"}, {"Cache-Control", "no-cache"}},
                  {.timeout = options.timeout}));
      if (response.status == 200) return ReadAnswer(response.body);
      if (!IsRefusal(response.status) || attempt >= options.attempt_count_max) {
        return ReadProblem(response.status, response.body);
      }
      poll(nullptr, 0, static_cast<int>(options.pause.count()));
    }
  };
}

StatusOr<ServedList> ReadPages(const std::string& text, const ServedSearchOptions& options,
                               const FetchPage& fetch) {
  const size_t depth = options.depth;
  const bool folds = options.folds;
  ServedList list;
  SearchPageRequest request{.query = text,
                            .format = frontend::PageFormat::kJson,
                            .is_plain = options.is_plain,
                            .fold = folds};
  while (list.entries.size() < depth && request.start < frontend::kReachableResultCountMax) {
    const size_t wanted =
        std::min<size_t>(depth - list.entries.size(), folds ? SearchRequestLimits::kCountDefault
                                                            : SearchRequestLimits::kCountMax);
    request.count = static_cast<uint32_t>(wanted);
    NEPTUNE_ASSIGN_OR_RETURN(const SearchAnswer answer, fetch(request));
    list.is_partial |= !answer.coverage.complete();
    for (const frontend::SearchResult& result : answer.results) {
      if (list.entries.size() == depth) break;
      list.entries.push_back({DocumentOf(result), -1.0 - static_cast<double>(list.entries.size())});
    }
    const uint32_t covered_count = frontend::CoveredCount(answer);
    if (covered_count < wanted) break;
    if (request.start == 0 && folds) request.first = covered_count;
    request.start += covered_count;
  }
  return list;
}

StatusOr<ServedRun> AskAll(const std::vector<JudgedQuery>& queries,
                           const ServedSearchOptions& options, const FetchPage& fetch) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  ServedRun run;
  OrderedParallel<StatusOr<ServedList>> lists(queries.size(), kWindow);
  const auto ask = [&](size_t index) { return ReadPages(queries[index].text, options, fetch); };
  const auto keep = [&](size_t index, StatusOr<ServedList> list) {
    const std::string& id = queries[index].id;
    if (!list.ok()) return neptune::Annotate(list.status(), StrCat("query ", id));
    ++run.query_count;
    run.empty_count += list->entries.empty() ? 1 : 0;
    run.partial_count += list->is_partial ? 1 : 0;
    run.lists[id] = std::move(list->entries);
    return neptune::OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(lists.Run(options.concurrency, ask, keep));
  return run;
}

}  // namespace search::tools
