// One GET request to another server: for what a node asks of the administration pages of others.
//
// Threads: on a user-level thread, which waits.
// Errors: those of Connect; kDeadlineExceeded; kUnavailable the connection ended before the answer; those of
//   HttpResponseReader, among them an answer over `body_size_max`. Any HTTP status is an answer.

#pragma once

#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/world/network.h"

namespace neptune {

StatusOr<HttpResponse> HttpFetch(const Endpoint& from, std::string_view target, TimePoint deadline,
                                 size_t body_size_max);

}  // namespace neptune
