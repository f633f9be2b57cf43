#include "neptune/wire/http/http_message.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "neptune/base/strings.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

HttpResponse WithType(int status, std::string_view type, std::string body) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.Add("Content-Type", type);
  return response;
}

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(ToAbsl(a), ToAbsl(b));
}

void HttpHeaders::Add(std::string_view name, std::string_view value) {
  headers_.emplace_back(name, value);
}

void HttpHeaders::Set(std::string_view name, std::string_view value) {
  std::erase_if(headers_,
                [&](const Header& header) { return EqualsIgnoringCase(header.first, name); });
  Add(name, value);
}

std::string_view HttpHeaders::Get(std::string_view name) const {
  for (const Header& header : headers_) {
    if (EqualsIgnoringCase(header.first, name)) return header.second;
  }
  return {};
}

size_t HttpHeaders::Count(std::string_view name) const {
  return static_cast<size_t>(
      std::count_if(headers_.begin(), headers_.end(),
                    [&](const Header& header) { return EqualsIgnoringCase(header.first, name); }));
}

bool HttpRequest::ClientGone() const { return call != nullptr && call->cancelled(); }

std::optional<std::string_view> HttpRequest::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return std::nullopt;
}

HttpResponse HttpResponse::Text(int status, std::string body) {
  return WithType(status, "text/plain; charset=utf-8", std::move(body));
}

HttpResponse HttpResponse::Html(int status, std::string body) {
  return WithType(status, "text/html; charset=utf-8", std::move(body));
}

HttpResponse HttpResponse::Json(int status, std::string body) {
  return WithType(status, "application/json; charset=utf-8", std::move(body));
}

std::string_view HttpReasonPhrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace neptune
