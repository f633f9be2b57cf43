// The URL parameters of /search, parsed and checked: what page of which query, in which format.
//
// WHATWG URL,
// application/x-www-form-urlencoded:
//   '+' is a blank, %XX a byte.
// No I/O, no clock.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT naming the parameter: out of range, not a number, not UTF-8, malformed
//   %-encoding, or given twice. Unknown parameters are ignored.
// Limits: SearchRequestLimits; start 0 to 10,000, count 1 to 100, query 4,096 bytes after decoding.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::frontend {

enum class PageFormat { kHtml, kJson, kRss, kAtom };

struct SearchRequestLimits {
  // Bytes of everything behind the '?'. A browser's longest query, each byte as %XX, fits.
  static constexpr size_t kParametersSizeMax = 16 * 1024;
  static constexpr size_t kParameterCountMax = 64;
  // The query parser's own limit.
  static constexpr size_t kQuerySizeMax = 4096;
  static constexpr uint32_t kStartMax = 10'000;
  static constexpr uint32_t kCountMax = 100;
  static constexpr uint32_t kCountDefault = 10;
};

struct SearchPageRequest {
  // As typed; empty or blank if there was none, for which HTML shows the home page.
  std::string query;
  // 0-based number of the first result wanted.
  uint32_t start = 0;
  uint32_t count = SearchRequestLimits::kCountDefault;
  PageFormat format = PageFormat::kHtml;
  // Say how the answer was found. JSON only.
  bool trace = false;

  // False if the query is missing or only white space.
  bool has_query() const;
};

// The request that `parameters` (the target behind its '?', may be empty) describes. `accept` is
// the Accept header, the format if the parameter `format` is absent. Formats other than HTML need a
// query: INVALID_ARGUMENT names `q` if there is none.
neptune::StatusOr<SearchPageRequest> ParseSearchRequest(std::string_view parameters,
                                                        std::string_view accept = {});

// The format to answer in even if the request is wrong. Never fails; kHtml in doubt.
PageFormat PreferredFormat(std::string_view parameters, std::string_view accept = {});

// "/search?q=..." with what differs from the defaults; parses back to `request`, but that a format
// kHtml is left to the Accept header.
std::string SearchPath(const SearchPageRequest& request);

// `text` as a parameter's value: unreserved bytes as they are, blank as '+', the rest as %XX.
std::string EncodeParameter(std::string_view text);

// Name in the parameter `format`: "html", "json", "rss", "atom".
std::string_view FormatName(PageFormat format);

// Name of the parameter that an error of ParseSearchRequest complains of; empty if none.
std::string_view ParameterOf(const neptune::Status& status);

}  // namespace search::frontend
