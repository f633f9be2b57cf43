// HTTP requests and responses as values, the input and output of handlers.
//
// Source: RFC 9110 (semantics), RFC 9112 (HTTP/1.1). Departs from source: none.
// Threads: plain values.
// Units: sizes in bytes.
// Shapes: headers keep their order; names are compared ignoring case.
// Limits: those of HttpRequestReader for requests; of SerializeHttpResponse for responses.

#pragma once

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

class IncomingCall;

class HttpHeaders {
 public:
  using Header = std::pair<std::string, std::string>;

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Header> headers) : headers_(headers) {}

  void Add(std::string_view name, std::string_view value);
  // Replaces all headers of that name.
  void Set(std::string_view name, std::string_view value);
  // Returns the first value of that name, or an empty text; Has distinguishes absent from empty.
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
  std::string method;  // as sent: "GET"; case-sensitive
  // The target as sent, in origin form: "/search?q=a+b", or "*" for OPTIONS.
  std::string target;
  // Part before the '?', %XX decoded. "%2F" has become '/'; dot segments are not resolved.
  std::string path;
  // Part after the '?', as sent.
  std::string query;
  // Parameters of the query, decoded ('+' is a blank, %XX a byte), in order; names may repeat.
  std::vector<std::pair<std::string, std::string>> parameters;
  HttpHeaders headers;
  std::string body;
  int version = 11;  // 10 or 11
  // True if the client wants the connection to stay open after the answer.
  bool keep_alive = true;
  // Set by HttpServer.
  Endpoint peer;
  TimePoint received;
  // Cancelled on the connection's loop when the client disconnects before it is answered. Calls made
  // with it end then (RequestContext, ClientSession). Null: the request came on no connection.
  std::shared_ptr<IncomingCall> call;

  // True if the client has disconnected, so that a long handler may stop early.
  bool ClientGone() const;

  // Returns the first parameter of that name.
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

// Returns for example "Not Found" for 404; "Unknown" for an unknown status.
std::string_view HttpReasonPhrase(int status);

// True if the texts are equal ignoring the case of ASCII letters.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace neptune
