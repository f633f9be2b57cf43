// HTTP requests and responses as values: what handlers take and give.
//
// Source: RFC 9110 (semantics), RFC 9112 (HTTP/1.1). Departs from source: none.
// Threads: plain values.
// Units: sizes in bytes.
// Shapes: headers keep their order; names compare without case.
// Limits: those of HttpRequestReader for requests; of SerializeHttpResponse for responses.

#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/network.h"

namespace neptune {

class HttpHeaders {
 public:
  using Header = std::pair<std::string, std::string>;

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Header> headers) : headers_(headers) {}

  void Add(std::string_view name, std::string_view value);
  // Replaces every header of that name.
  void Set(std::string_view name, std::string_view value);
  // The first of that name, or empty; Has tells the two apart.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const { return Count(name) > 0; }
  size_t Count(std::string_view name) const;

  size_t size() const { return headers_.size(); }
  auto begin() const { return headers_.begin(); }
  auto end() const { return headers_.end(); }

 private:
  std::vector<Header> headers_;
};

struct HttpRequest {
  std::string method;  // as sent: "GET"; methods know case
  // As sent, in origin form: "/search?q=a+b", or "*" for OPTIONS.
  std::string target;
  // Before the '?', %XX decoded. "%2F" has become '/'; dot segments stand as they are.
  std::string path;
  // Behind the '?', as sent.
  std::string query;
  // The same taken apart: '+' is a blank, %XX a byte; in order, names may repeat.
  std::vector<std::pair<std::string, std::string>> parameters;
  HttpHeaders headers;
  std::string body;
  int version = 11;  // 10 or 11
  // Whether the client wants the connection to stay open after the answer.
  bool keep_alive = true;
  // Filled in by HttpServer.
  Endpoint peer;
  TimePoint received;
  std::shared_ptr<const std::atomic<bool>> client_gone;

  // Whether nobody waits for the answer any more, so that a long handler may stop early.
  bool ClientGone() const { return client_gone != nullptr && *client_gone; }

  // The first parameter of that name.
  std::optional<std::string_view> Parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;

  static HttpResponse Text(int status, std::string body);
  static HttpResponse Html(int status, std::string body);
  static HttpResponse Json(int status, std::string body);
};

// "Not Found" for 404; "Unknown" for a number without a name.
std::string_view HttpReasonPhrase(int status);

// Whether two texts are the same but for the case of ASCII letters.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace neptune
