// Errors as problem documents, and the HTTP status of each error code.
//
// Source: RFC 9457; RFC 9110 10.2.3 (Retry-After).
// Threads: pure functions.
// Errors: see HttpStatusOf. A full queue, capsule or class is a state of the server, hence 503. A
//   rate limit of one client is 429; use the first form of ProblemResponse for it.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

// Additional members of a problem document; values are text.
using ProblemExtra = std::vector<std::pair<std::string, std::string>>;

// Returns a response of type application/problem+json. An empty `title` defaults to the reason
// phrase.
HttpResponse ProblemResponse(int status, std::string_view title, std::string_view detail,
                             const ProblemExtra& extra = {});

// The same for an error: its HTTP status, its message as the detail, its code's name as the member
// "code"; with 503, Retry-After of at least one second.
HttpResponse ProblemResponse(const Status& error, Duration retry_after = std::chrono::seconds(1),
                             const ProblemExtra& extra = {});

// kOk 200 · kInvalidArgument, kOutOfRange 400 · kUnauthenticated 401 · kPermissionDenied 403 ·
// kNotFound 404 · kAlreadyExists, kFailedPrecondition 409 · kUnimplemented 501 ·
// kResourceExhausted, kUnavailable, kAborted 503 · kDeadlineExceeded 504 · kCancelled 499 (appears
// in logs only, because the client is gone) · others 500.
int HttpStatusOf(StatusCode code);

}  // namespace neptune
