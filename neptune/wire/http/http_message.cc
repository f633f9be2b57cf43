#include "neptune/wire/http/http_message.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// What most messages need, so that neither grows while headers are added.
constexpr size_t kUsualHeaderCount = 12;
constexpr size_t kUsualHeadersSize = 640;

HttpResponse WithType(int status, std::string_view type, std::string body) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.Add("Content-Type", type);
  return response;
}

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(ToAbsl(a), ToAbsl(b));
}

HttpHeaders::HttpHeaders(std::initializer_list<Header> headers) {
  for (const auto& [name, value] : headers) Add(name, value);
}

void HttpHeaders::Add(std::string_view name, std::string_view value) {
  if (places_.empty()) places_.reserve(kUsualHeaderCount);
  const size_t size = text_.size() + name.size() + value.size();
  std::string before;  // the arguments may be views of the text
  if (size > text_.capacity()) {
    std::string grown;
    grown.reserve(std::max(2 * size, kUsualHeadersSize));
    grown = text_;
    before = std::exchange(text_, std::move(grown));
  }
  places_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()),
                     static_cast<uint32_t>(value.size())});
  text_ += name;
  text_ += value;
}

void HttpHeaders::Set(std::string_view name, std::string_view value) {
  std::erase_if(places_, [&](const Place& place) { return EqualsIgnoringCase(Name(place), name); });
  Add(name, value);
}

std::string_view HttpHeaders::Get(std::string_view name) const {
  for (const auto& [known, value] : *this) {
    if (EqualsIgnoringCase(known, name)) return value;
  }
  return {};
}

std::string HttpHeaders::Joined(std::string_view name) const {
  std::string list;
  for (const auto& [known, value] : *this) {
    if (!EqualsIgnoringCase(known, name)) continue;
    if (!list.empty()) list += ", ";
    list += value;
  }
  return list;
}

size_t HttpHeaders::Count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(places_.begin(), places_.end(), [&](const Place& place) {
    return EqualsIgnoringCase(Name(place), name);
  }));
}

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
