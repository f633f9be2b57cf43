// Serialises responses, and requests of clients, as HTTP/1.1.
//
// Source: RFC 9112, RFC 9110 5.6.7 (dates).
// No I/O; the time is an argument.
// Threads: pure functions.
// Limits: a header whose name is not a token, or that is longer than kHeaderLineSizeMax, is
//   omitted; control bytes in a value become blanks, so that no value can inject another header.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

inline constexpr size_t kHeaderLineSizeMax = 8 * 1024;

// Properties of the request that determine the bytes of its answer.
struct HttpAnswerContext {
  bool head = false;  // sends Content-Length without the body
  int version = 11;
  bool keep_alive = true;
};

// Adds Date, Connection and Content-Length; the default Content-Type of a body is
// application/octet-stream. Framing headers in the response itself are replaced.
std::string SerializeHttpResponse(const HttpResponse& response, const HttpAnswerContext& context,
                                  WallTime now);

// The same bytes in up to two pieces: a body of its own from kBodyMovedSize bytes is moved and not
// copied, and follows the first piece. A shared body is copied, once. `date`: FormatHttpDate.
struct HttpResponseBytes {
  std::string first;
  std::string rest;  // empty: `first` is all
};
inline constexpr size_t kBodyMovedSize = 64 * 1024;
HttpResponseBytes MoveHttpResponse(HttpResponse response, const HttpAnswerContext& context,
                                   std::string_view date);

// Prepares what SerializeHttpResponse writes for a client of HTTP/1.1 that keeps its connection,
// without the body. Headers that differ between responses come after those of `response`. REQUIRES:
// a status that has a body.
PreparedHttpHead PrepareHttpHead(HttpResponse response, bool security_headers);
// Appends status line and Date, which come before a prepared head.
void AppendHttpStart(int status, std::string_view date, std::string* out);

// Serialises a client's request with Host and, if there is a body, Content-Length.
std::string SerializeHttpRequest(std::string_view method, std::string_view target,
                                 std::string_view host, const HttpHeaders& headers = {},
                                 std::string_view body = {});

// Returns for example "Sun, 06 Nov 1994 08:49:37 GMT".
std::string FormatHttpDate(WallTime time);

// Default policy: pages load nothing from other sites, run no script, have no inline style, and
// cannot be framed. Pages that need a script or style use a policy that names it by its hash.
inline constexpr std::string_view kStrictContentSecurityPolicy =
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

// Adds Content-Security-Policy, X-Content-Type-Options and Referrer-Policy, unless already present.
void AddSecurityHeaders(HttpResponse* response,
                        std::string_view content_security_policy = kStrictContentSecurityPolicy);

}  // namespace neptune
