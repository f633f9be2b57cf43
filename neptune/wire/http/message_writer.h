// Turns responses (and, for clients, requests) into the bytes of HTTP/1.1.
//
// Source: RFC 9112, RFC 9110 5.6.7 (dates); serialised by Boost.Beast, which stays behind this
// header. No I/O; the time is an argument. Threads: pure functions.
// Limits: a header whose name is not a token, or that is longer than kHeaderLineSizeMax, is left
//   out; control bytes in a value become blanks, so no value can begin another header.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

inline constexpr size_t kHeaderLineSizeMax = 8 * 1024;

// What the request of an answer decides about its bytes.
struct HttpAnswerContext {
  bool head = false;  // the body is counted, not sent
  int version = 11;
  bool keep_alive = true;
};

// Adds Date, Connection and Content-Length; a response without Content-Type that has a body is
// called application/octet-stream. Framing headers that the response itself carries are replaced.
std::string SerializeHttpResponse(const HttpResponse& response, const HttpAnswerContext& context,
                                  WallTime now);

// A client's request with Host and, if there is a body, Content-Length.
std::string SerializeHttpRequest(std::string_view method, std::string_view target,
                                 std::string_view host, const HttpHeaders& headers = {},
                                 std::string_view body = {});

// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string FormatHttpDate(WallTime time);

// Pages of ours load nothing from elsewhere, run no script, have no style of their own, and are in no frame. Pages that
// need more bring a policy that names it by its hash.
inline constexpr std::string_view kStrictContentSecurityPolicy =
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

// Content-Security-Policy, X-Content-Type-Options and Referrer-Policy, each unless it is there.
void AddSecurityHeaders(HttpResponse* response,
                        std::string_view content_security_policy = kStrictContentSecurityPolicy);

}  // namespace neptune
