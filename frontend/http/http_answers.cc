#include "frontend/http/http_answers.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::StatusCode;

HttpResponse ToResponse(RenderedPage page) {
  HttpResponse response;
  response.status = page.http_status;
  response.headers.Set("Content-Type", page.content_type);
  response.headers.Set("Content-Security-Policy", ContentSecurityPolicy());
  response.body = std::move(page.body);
  return response;
}

HttpResponse ToResponse(const ErrorAnswer& error, PageFormat format, const Site& site) {
  HttpResponse response = ToResponse(RenderError(error, format, site));
  response.headers.Set("Cache-Control", "no-store");
  if (error.retry_after_s > 0) {
    response.headers.Set("Retry-After", neptune::StrCat(error.retry_after_s));
  }
  return response;
}

void IndentIfAsked(const HttpRequest& request, HttpResponse* response) {
  if (request.Parameter("pretty") != "1") return;
  const std::string_view type = response->headers.Get("Content-Type");
  const bool is_json = type.starts_with("application/json") || type.find("+json") != type.npos;
  if (!is_json || response->headers.Has("ETag") || response->headers.Has("Content-Encoding"))
    return;
  if (response->body_bytes().size() > kIndentedSizeMax) return;
  const auto document = nlohmann::ordered_json::parse(response->body_bytes(), nullptr, false);
  if (document.is_discarded()) return;
  response->body = document.dump(1) + "\n";
  response->shared_body = nullptr;
}

ErrorAnswer ToError(const neptune::Status& status, std::string_view query) {
  ErrorAnswer error{.http_status = neptune::HttpStatusOf(status.code()),
                    .detail = std::string(neptune::ToStd(status.message())),
                    .parameter = std::string(ParameterOf(status)),
                    .query = std::string(query)};
  error.title = neptune::HttpReasonPhrase(error.http_status);
  if (status.code() == StatusCode::kResourceExhausted) error.title = "Too many requests at once";
  if (status.code() == StatusCode::kUnavailable) error.title = "The search is not available";
  if (error.http_status == 503 || error.http_status == 504) {
    error.retry_after_s = kRetryAfterSeconds;
  }
  return error;
}

bool IsBrowser(const HttpRequest& request) {
  return request.headers.Get("Accept").find("text/html") != std::string_view::npos;
}

bool WantsFreshAnswer(const HttpRequest& request) {
  return request.headers.Get("Cache-Control").find("no-cache") != std::string_view::npos;
}

PageFormat FormatOf(const HttpRequest& request) {
  return PreferredFormat(request.query, request.headers.Get("Accept"));
}

}  // namespace search::frontend
