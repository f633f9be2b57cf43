// Any parameters are parsed within the limits or rejected; accepted ones survive a round trip.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/model/search_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::frontend::SearchRequestLimits;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto request = search::frontend::ParseSearchRequest(text, text);
  search::frontend::PreferredFormat(text, text);
  if (!request.ok()) return 0;
  CHECK_LE(request->start, SearchRequestLimits::kStartMax);
  CHECK_LE(request->count, SearchRequestLimits::kCountMax);
  CHECK_LE(request->query.size(), SearchRequestLimits::kQuerySizeMax);
  const std::string path = search::frontend::SearchPath(*request);
  const auto again = search::frontend::ParseSearchRequest(
      std::string_view(path).substr(std::string_view("/search?").size()));
  CHECK(again.ok()) << again.status();
  CHECK_EQ(again->query, request->query);
  return 0;
}
