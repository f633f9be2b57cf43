#include "neptune/wire/http/problem.h"

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/wire/http/json_text.h"

namespace neptune {

HttpResponse ProblemResponse(int status, std::string_view title, std::string_view detail,
                             const ProblemExtra& extra) {
  nlohmann::ordered_json document = {
      {"type", "about:blank"},
      {"title", title.empty() ? HttpReasonPhrase(status) : title},
      {"status", status},
  };
  if (!detail.empty()) document["detail"] = detail;
  for (const auto& [name, value] : extra) document[name] = value;
  HttpResponse response{.status = status, .headers = {}, .body = JsonText(document)};
  response.headers.Add("Content-Type", "application/problem+json; charset=utf-8");
  response.headers.Add("Cache-Control", "no-store");
  return response;
}

HttpResponse ProblemResponse(const Status& error, Duration retry_after, const ProblemExtra& extra) {
  ProblemExtra members = {{"code", absl::StatusCodeToString(error.code())}};
  members.insert(members.end(), extra.begin(), extra.end());
  HttpResponse response =
      ProblemResponse(HttpStatusOf(error.code()), "", ToStd(error.message()), members);
  if (response.status == 503) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(retry_after).count();
    response.headers.Add("Retry-After", StrCat(std::max<int64_t>(wait, 1)));
  }
  return response;
}

int HttpStatusOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
      return 400;
    case StatusCode::kUnauthenticated:
      return 401;
    case StatusCode::kPermissionDenied:
      return 403;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kAlreadyExists:
    case StatusCode::kFailedPrecondition:
      return 409;
    case StatusCode::kCancelled:
      return 499;
    case StatusCode::kUnimplemented:
      return 501;
    case StatusCode::kResourceExhausted:
    case StatusCode::kUnavailable:
    case StatusCode::kAborted:
      return 503;
    case StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace neptune
