// The headers by which an answer says where it comes from, and those of a repeated page.
//
//   Age: 12                                   seconds since the answer was computed
//   Cache-Status: pages; hit; ttl=588         a repeated page; a former index: ttl=0; detail=stale
//   Cache-Status: answers; hit                the query cache
//   Cache-Status: answers; fwd=miss           computed; with `collapsed`, for an equal question
//   Cache-Status: answers; fwd=bypass         computed, without asking the cache
//
// Source: RFC 9111 5.1 (Age), RFC 9211 (Cache-Status).
// No I/O.
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>

#include "frontend/caching/cached_page.h"
#include "frontend/model/answer.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct RepeatedHeaders {
  std::string age;
  std::string cache_status;
};

RepeatedHeaders HeadersOfRepetition(const PageFacts& facts, neptune::TimePoint now);
// Appends the same headers as they are sent, Age first.
void AppendHeadersOfRepetition(const PageFacts& facts, neptune::TimePoint now, std::string* out);

// Adds Age and Cache-Status to an answer that was found or computed.
void SetOrigin(const CacheUse& cache, neptune::HttpResponse* response);

// True for a header that repetitions of a page do not share.
bool IsOfOneAnswer(std::string_view header);

}  // namespace search::frontend
