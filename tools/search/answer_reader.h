// Parses a frontend's JSON answer or problem document.
//
// Source: frontend/render/README.md lists the fields.
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT not JSON, or not an answer; a field that is missing or of another type
//   gets its default, unknown ones are ignored, so that newer frontends can be read.
// Limits: kResultsReadMax results and the same number of missing partitions per service.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "frontend/model/answer.h"
#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kResultsReadMax = 1000;

neptune::StatusOr<frontend::SearchAnswer> ReadAnswer(std::string_view json);

// The error of a response with an HTTP status other than 200: the problem's title and detail, or
// the status if the body is not a problem document. Never OK.
neptune::Status ReadProblem(int http_status, std::string_view json);

}  // namespace search::tools
