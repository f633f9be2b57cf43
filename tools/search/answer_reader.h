// A JSON answer or problem of a frontend, read back into the model of an answer.
//
// Source: frontend/render/README.md lists the fields. No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT not JSON, or not an answer; a field that is missing or of another type
//   gets its default, unknown ones are ignored, so that newer frontends can be read.
// Limits: kResultsReadMax results and as many missing partitions of a service.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "frontend/answer.h"
#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kResultsReadMax = 1000;

neptune::StatusOr<frontend::SearchAnswer> ReadAnswer(std::string_view json);

// What an answer with another HTTP status than 200 says: the problem's title and detail, or the
// status if the body is no problem document. Never OK.
neptune::Status ReadProblem(int http_status, std::string_view json);

}  // namespace search::tools
