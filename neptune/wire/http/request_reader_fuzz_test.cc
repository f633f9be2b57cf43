// Any bytes as requests and responses: read within the limits or refused, alike in one piece and
// in two.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/request_reader.h"
#include "neptune/wire/http/response_reader.h"

namespace {

using neptune::HttpReaderOptions;
using neptune::HttpRequestReader;

constexpr HttpReaderOptions kLimits{.header_size_max = 2048,
                                    .target_size_max = 512,
                                    .body_size_max = 1024,
                                    .header_count_max = 20,
                                    .parameter_count_max = 10};

void ReadAll(HttpRequestReader* reader, std::string* seen) {
  while (const auto request = reader->Next()) {
    CHECK_LE(request->target.size(), kLimits.target_size_max + 1);
    CHECK_LE(request->body.size(), kLimits.body_size_max);
    CHECK_LE(request->headers.size(), kLimits.header_count_max);
    CHECK_LE(request->parameters.size(), kLimits.parameter_count_max);
    CHECK(request->path.starts_with('/') || request->path == "*");
    *seen += request->method + ' ' + request->target + ' ' + request->body + '\n';
  }
}

void ReadResponses(std::string_view bytes) {
  neptune::HttpResponseReader reader({.header_size_max = 2048, .body_size_max = 4096});
  reader.Feed(bytes);
  reader.FeedEnd();
  for (auto next = reader.Next(); next.ok() && next->has_value(); next = reader.Next()) {
    CHECK_LE((*next)->body.size(), 4096u);
    neptune::SerializeHttpResponse(**next, {}, {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string whole;
  HttpRequestReader reader(kLimits);
  reader.Feed(bytes);
  ReadAll(&reader, &whole);

  std::string halves;
  HttpRequestReader twice(kLimits);
  for (const std::string_view half : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    twice.Feed(half);
    ReadAll(&twice, &halves);
  }
  CHECK_EQ(whole, halves);
  ReadResponses(bytes);
  return 0;
}
