#include "frontend/http/page_text.h"

#include <algorithm>
#include <chrono>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

// Whole seconds, not negative.
int64_t SecondsOf(neptune::Duration duration) {
  return std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

std::string StatusOf(const CacheUse& cache) {
  switch (cache.outcome) {
    case CacheUse::Outcome::kHit:
      return cache.newer_version == 0 ? "answers; hit" : "answers; hit; ttl=0; detail=stale";
    case CacheUse::Outcome::kMiss:
      return cache.is_joined ? "answers; fwd=miss; collapsed" : "answers; fwd=miss";
    case CacheUse::Outcome::kBypassed:
    case CacheUse::Outcome::kFailed:
      break;
  }
  return "answers; fwd=bypass";
}

void AppendStatus(const PageFacts& facts, neptune::TimePoint now, std::string* out) {
  if (facts.is_stale) {
    *out += "pages; hit; ttl=0; detail=stale";
  } else {
    neptune::StrAppend(out, "pages; hit; ttl=", SecondsOf(facts.expires_at - now));
  }
}

}  // namespace

RepeatedHeaders HeadersOfRepetition(const PageFacts& facts, neptune::TimePoint now) {
  RepeatedHeaders headers{.age = StrCat(SecondsOf(now - facts.computed_at)), .cache_status = {}};
  AppendStatus(facts, now, &headers.cache_status);
  return headers;
}

void AppendHeadersOfRepetition(const PageFacts& facts, neptune::TimePoint now, std::string* out) {
  neptune::StrAppend(out, "Age: ", SecondsOf(now - facts.computed_at), "\r\nCache-Status: ");
  AppendStatus(facts, now, out);
  *out += "\r\n";
}

void SetOrigin(const CacheUse& cache, neptune::HttpResponse* response) {
  if (cache.outcome == CacheUse::Outcome::kHit) {
    response->headers.Set("Age", StrCat(SecondsOf(cache.age)));
  }
  response->headers.Set("Cache-Status", StatusOf(cache));
}

bool IsOfOneAnswer(std::string_view header) {
  for (const std::string_view own : {"Age", "Cache-Status", "traceparent", "Date"}) {
    if (neptune::EqualsIgnoringCase(header, own)) return true;
  }
  return false;
}

}  // namespace search::frontend
