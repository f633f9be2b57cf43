// Any bytes as requests: the parts by which the short way knows a request are those that the
// ordinary way takes from it, and two requests with the same parts have the same page.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/caching/seen_requests.h"
#include "neptune/wire/http/request_glance.h"
#include "neptune/wire/http/request_reader.h"

namespace {

using search::frontend::PageAsk;

void CheckSame(const PageAsk& a, const PageAsk& b) {
  CHECK_EQ(a.repeats_header, b.repeats_header);
  CHECK_EQ(a.target, b.target);
  CHECK_EQ(a.host, b.host);
  CHECK_EQ(a.accept, b.accept);
  CHECK_EQ(a.accept_encoding, b.accept_encoding);
  CHECK_EQ(a.cache_control, b.cache_control);
  CHECK_EQ(a.traceparent, b.traceparent);
  CHECK_EQ(a.api_key, b.api_key);
  CHECK_EQ(a.api_key.data() == nullptr, b.api_key.data() == nullptr);
  CHECK_EQ(a.service_class, b.service_class);
  CHECK_EQ(a.forwarded_for, b.forwarded_for);
}

// What the ordinary way remembers must hold for the request.
void CheckSeen(const PageAsk& ask, search::frontend::SeenRequests* seen) {
  std::string key;
  WritePageKey(ask, /*has_fixed_address=*/false, &key);
  const auto* const found = seen->Find(ask);
  if (found != nullptr) {
    CHECK_EQ(found->page.key, key);
    CHECK_EQ(found->client.name, ask.service_class);
    return;
  }
  seen->Remember(ask, {.page = {.key = key, .hash = 0},
                       .client = {.number = 0, .name = std::string(ask.service_class)}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  search::frontend::SeenRequests seen({.size_max = 4096});
  neptune::HttpGlance glance;
  while (const size_t taken = neptune::GlanceAt(bytes, {}, &glance)) {
    neptune::HttpRequestReader reader;
    reader.Feed(bytes.substr(0, taken));
    const PageAsk ask = search::frontend::PageAskOf(glance);
    if (const auto request = reader.Next()) {
      CheckSame(ask, search::frontend::PageAskOf(*request));
      if (!ask.repeats_header) CheckSeen(ask, &seen);
    }
    CHECK_LE(seen.size(), 4096u);
    bytes.remove_prefix(taken);
  }
  return 0;
}
