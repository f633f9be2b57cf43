// Sends one GET request to another server. Nodes use it to read each other's administration pages.
//
// Threads: runs on a user-level thread, which it parks.
// Errors: those of Connect; kDeadlineExceeded; kUnavailable the connection ended before the answer;
//   those of HttpResponseReader, including an answer over `body_size_max`. Any HTTP status is an
//   answer.

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
