// Errors as problem documents, and which HTTP status each error code is.
//
// Source: RFC 9457; RFC 9110 10.2.3 (Retry-After).
// Threads: pure functions.
// Errors: see HttpStatusOf. A queue, capsule or class that is full is the server's state and so
//   503; a rule against one client's rate is 429, said with the first form of ProblemResponse.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

// Members of a problem document beside the standard ones; values are text.
using ProblemExtra = std::vector<std::pair<std::string, std::string>>;

// application/problem+json. An empty `title` is the status's reason phrase.
HttpResponse ProblemResponse(int status, std::string_view title, std::string_view detail,
                             const ProblemExtra& extra = {});

// The same of an error: its HTTP status, its message as the detail, its code's name as the member
// "code"; Retry-After of at least a second where waiting can help.
HttpResponse ProblemResponse(const Status& error, Duration retry_after = std::chrono::seconds(1),
                             const ProblemExtra& extra = {});

// kOk 200 · kInvalidArgument, kOutOfRange 400 · kUnauthenticated 401 · kPermissionDenied 403 ·
// kNotFound 404 · kAlreadyExists, kFailedPrecondition 409 · kUnimplemented 501 ·
// kResourceExhausted, kUnavailable, kAborted 503 · kDeadlineExceeded 504 · kCancelled 499 (seen by
// logs only: the client has gone) · the rest 500.
int HttpStatusOf(StatusCode code);

}  // namespace neptune
