// Parses and checks the URL parameters of /search: query, page and format.
//
// Source: WHATWG URL, application/x-www-form-urlencoded ('+' is a space, %XX a byte).
// No I/O, no clock.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT names the parameter: out of range, not a number, not UTF-8, a zero byte,
//   malformed %-encoding, or given twice. Unknown parameters are ignored.
// Units: `timeout` is "500" or "500ms" in milliseconds, or "2s".
// Limits: SearchRequestLimits; start 0 to 10,000, count 1 to 100, query 4,096 bytes after decoding.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

enum class PageFormat { kHtml, kJson, kRss, kAtom };

struct SearchRequestLimits {
  // Bytes of everything after the '?'. A query of maximum size with every byte as %XX fits.
  static constexpr size_t kParametersSizeMax = 16 * 1024;
  static constexpr size_t kParameterCountMax = 64;
  // The query parser's own limit.
  static constexpr size_t kQuerySizeMax = 4096;
  static constexpr uint32_t kStartMax = 10'000;
  static constexpr uint32_t kCountMax = 100;
  static constexpr uint32_t kCountDefault = 10;
  static constexpr std::chrono::milliseconds kTimeoutMax = std::chrono::minutes(10);
};

// The value of the parameter `syntax` for running text.
inline constexpr std::string_view kPlainSyntax = "plain";

struct SearchPageRequest {
  // Query as typed; if it is empty or blank, the HTML format shows the home page.
  std::string query;
  // 0-based index of the first result.
  uint32_t start = 0;
  uint32_t count = SearchRequestLimits::kCountDefault;
  PageFormat format = PageFormat::kHtml;
  // Include the trace in the answer. JSON only.
  bool trace = false;
  // Say how the score of each result came about. JSON and HTML.
  bool explain = false;
  // Count all matching documents by site. JSON and HTML.
  bool site_facets = false;
  // The newest documents first instead of the best.
  bool by_date = false;
  // The query is running text, of which nothing is an operator: its words are wanted.
  bool is_plain = false;
  // False: search for the query as it is typed, without looking for another spelling.
  bool may_correct = true;
  // False: what the query demands is demanded even if no page has it.
  bool may_relax = true;
  // Fold near-duplicates and further results of a site; unset: pages for people fold, other formats
  // do not.
  std::optional<bool> fold = std::nullopt;
  // Number of ranked results that the first page covers, from its links; 0: unknown, as many as a
  // page has.
  uint32_t first = 0;
  // How long the client waits, from the arrival of the request; 0: as long as the frontend allows.
  // From 1 ms on; the frontend's own limit may be less.
  std::chrono::milliseconds timeout{0};

  bool folds() const { return fold.value_or(format == PageFormat::kHtml); }

  // False if the query is missing or only white space.
  bool has_query() const;
};

// Parses `parameters`, the part of the target after '?', which may be empty. `accept` is the Accept
// header; it selects the format if the parameter `format` is absent. Formats other than HTML
// require a query: INVALID_ARGUMENT names `q` if there is none.
neptune::StatusOr<SearchPageRequest> ParseSearchRequest(std::string_view parameters,
                                                        std::string_view accept = {});

// The format of the answer, also for an invalid request. Never fails; kHtml if undecided.
PageFormat PreferredFormat(std::string_view parameters, std::string_view accept = {});

// "/search?q=..." with the parameters that differ from their defaults. Parsing it returns
// `request`, except that the format kHtml is left to the Accept header.
std::string SearchPath(const SearchPageRequest& request);

// Encodes `text` as a parameter value: unreserved bytes unchanged, space as '+', others as %XX.
std::string EncodeParameter(std::string_view text);

// Value of the parameter `format`: "html", "json", "rss", "atom".
std::string_view FormatName(PageFormat format);

// Name of the parameter that an error of ParseSearchRequest is about; empty if there is none.
std::string_view ParameterOf(const neptune::Status& status);

}  // namespace search::frontend
