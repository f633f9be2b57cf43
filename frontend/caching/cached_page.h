// A rendered page of results as a frontend repeats it, and what of its answer decides how long.
//
// Threads: plain values; the body is immutable and may be shared with responses.
// Units: times are TimePoint of the frontend's world; sizes are bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

// What a page says and depends on, as far as repetitions need it.
struct PageFacts {
  // The page is valid while searches are for this version of the index.
  uint64_t for_version = 0;
  // SearchAnswer::index_epoch.
  uint64_t index_epoch = 0;
  // When the answer was computed, and after when the page must not be repeated.
  neptune::TimePoint computed_at;
  neptune::TimePoint expires_at;
  // The answer is of a former version of the index (CacheUse::newer_version).
  bool is_stale = false;
  size_t result_count = 0;
  Coverage coverage = {};
  // The request, for logs and for asking the question again.
  SearchPageRequest question = {};
};

struct CachedPage {
  PageFacts facts;
  // Those of every repetition, without the ones that differ: Age, Cache-Status, traceparent.
  neptune::HttpHeaders headers;
  std::shared_ptr<const std::string> body;
  // The same headers as they are sent, with those that the server adds.
  neptune::PreparedHttpHead head;
};

}  // namespace search::frontend
