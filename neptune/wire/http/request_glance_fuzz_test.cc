// Any bytes: what a glance accepts, the reader reads as the same request.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "neptune/wire/http/request_glance.h"
#include "neptune/wire/http/request_reader.h"

namespace {

using neptune::HttpGlance;
using neptune::HttpReaderOptions;
using neptune::HttpRequest;
using neptune::HttpRequestReader;

constexpr HttpReaderOptions kLimits{.header_size_max = 2048,
                                    .target_size_max = 512,
                                    .body_size_max = 1024,
                                    .header_count_max = 20,
                                    .parameter_count_max = 10};

void CheckSame(const HttpGlance& glance, const HttpRequest& request) {
  CHECK_EQ(request.method, glance.is_head ? "HEAD" : "GET");
  CHECK_EQ(request.target, glance.target);
  CHECK_EQ(request.version, 11);
  CHECK(request.keep_alive);
  CHECK(request.body.empty());
  CHECK_EQ(request.headers.size(), glance.header_count);
  // The reader puts headers of one name beside each other.
  neptune::HttpHeaders seen;
  for (size_t i = 0; i < glance.header_count; ++i) {
    seen.Add(glance.headers[i].first, glance.headers[i].second);
  }
  for (const auto& [name, value] : seen) {
    CHECK_EQ(seen.Joined(name), request.headers.Joined(name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  HttpGlance glance;
  while (const size_t taken = neptune::GlanceAt(bytes, kLimits, &glance)) {
    CHECK_LE(taken, bytes.size());
    HttpRequestReader reader(kLimits);
    reader.Feed(bytes.substr(0, taken));
    if (const auto request = reader.Next()) {
      CheckSame(glance, *request);
      CHECK(reader.awaits_request());
    } else {
      CHECK(reader.error()) << "it is not complete";
      const std::string_view reason = reader.error()->reason;
      CHECK(reason.starts_with("path: ") || reason.starts_with("query: ")) << reason;
    }
    bytes.remove_prefix(taken);
  }
  return 0;
}
