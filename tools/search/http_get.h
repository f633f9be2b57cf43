// One HTTP request over a plain blocking socket: all that a command-line client needs.
//
// Source: RFC 9112. The answer is taken apart by neptune/wire/http.
// Threads: blocks the calling thread until the deadline at the latest (name resolution excepted, which
//   the system bounds).
// Errors: INVALID_ARGUMENT the URL or the answer is malformed; UNAVAILABLE cannot resolve, connect or
//   keep the connection; DEADLINE_EXCEEDED. An HTTP status is an answer, not an error.
// Limits: HttpGetOptions; kUrlSizeMax.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"
#include "tools/terminal/progress.h"

namespace search::tools {

inline constexpr size_t kUrlSizeMax = 2048;

struct HttpOrigin {
  std::string host;  // name or address, without brackets
  std::string port = "80";
  std::string authority;  // as it stands in the URL, for the header Host
  // Everything up to the path, no slash at the end: "http://127.0.0.1:8080".
  std::string base_url;
};

// The server that `url` names: "http://HOST[:PORT][/]" or just "HOST:PORT". https is refused.
neptune::StatusOr<HttpOrigin> ParseHttpOrigin(std::string_view url);

struct HttpGetOptions {
  // For everything from connecting to the last byte. Larger: more patience with a slow server.
  std::chrono::milliseconds timeout{10'000};
  // Bytes of the answer's body. Default: a hundred results with long snippets many times over.
  size_t body_size_max = size_t{8} << 20;
  NanosecondClock clock = MonotonicNanoseconds;
};

// The answer to GET `path` (with its query) from `target`.
neptune::StatusOr<neptune::HttpResponse> HttpGet(const HttpOrigin& target, std::string_view path,
                                                 const neptune::HttpHeaders& headers,
                                                 const HttpGetOptions& options);

// The same for any method, with a body.
neptune::StatusOr<neptune::HttpResponse> HttpExchange(
    const HttpOrigin& target, std::string_view method, std::string_view path,
    const neptune::HttpHeaders& headers, std::string_view body, const HttpGetOptions& options);

}  // namespace search::tools
