// One HTTP request of a command-line tool, answered or refused by a deadline.
//
// libcurl does the work. Nodes use neptune/wire/http instead, which also runs in a simulated world.
// Source: RFC 9112.
// Threads: the call blocks its thread until the deadline at the latest.
// Errors: INVALID_ARGUMENT the URL or the answer is malformed or over a limit; UNAVAILABLE the
//   server's name cannot be resolved, or the connection fails or is lost; DEADLINE_EXCEEDED. An
//   HTTP status is an answer, not an error.
// Limits: HttpGetOptions; kUrlSizeMax.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"

namespace search::tools {

inline constexpr size_t kUrlSizeMax = 2048;

struct HttpOrigin {
  std::string host;  // name or address, without brackets
  std::string port = "80";
  std::string authority;  // as written in the URL; sent as the Host header
  // Everything up to the path, without a slash at the end: "http://127.0.0.1:8080".
  std::string base_url;
};

// The server that `url` names: "http://HOST[:PORT][/]" or just "HOST:PORT". https is refused.
neptune::StatusOr<HttpOrigin> ParseHttpOrigin(std::string_view url);

struct HttpGetOptions {
  // Limits the whole exchange, from resolving the name to the last byte. Larger: more patience with
  // a slow server.
  std::chrono::milliseconds timeout{10'000};
  // Largest body accepted, in bytes. Default: many times a hundred results with long snippets.
  size_t body_size_max = size_t{8} << 20;
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
