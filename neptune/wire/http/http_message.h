// HTTP requests and responses as values, the input and output of handlers.
//
// Source: RFC 9110 (semantics), RFC 9112 (HTTP/1.1). Departs from source: none.
// Threads: plain values.
// Units: sizes in bytes.
// Shapes: headers keep their order; names are compared ignoring case.
// Limits: those of HttpRequestReader for requests; of SerializeHttpResponse for responses.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// Headers in one block of text, so that a message has two allocations for them and not two each.
class HttpHeaders {
 public:
  // Name and value; views are valid until the headers change.
  using Header = std::pair<std::string_view, std::string_view>;

  class Iterator {
   public:
    Iterator(const HttpHeaders& headers, size_t index) : headers_(&headers), index_(index) {}
    Header operator*() const { return headers_->At(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const HttpHeaders* headers_;
    size_t index_;
  };

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Header> headers);

  // The arguments may be views of these headers.
  void Add(std::string_view name, std::string_view value);
  // Replaces all headers of that name. The text of what was replaced is kept until the end.
  void Set(std::string_view name, std::string_view value);
  // Returns the first value of that name, or an empty text; Has distinguishes absent from empty.
  std::string_view Get(std::string_view name) const;
  // The values of that name in order with ", " between them, as one list (RFC 9110 5.3).
  std::string Joined(std::string_view name) const;
  bool Has(std::string_view name) const { return Count(name) > 0; }
  size_t Count(std::string_view name) const;

  size_t size() const { return places_.size(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, places_.size()}; }

 private:
  // A header's name in the text, followed by its value.
  struct Place {
    uint32_t begin;
    uint32_t name_size;
    uint32_t value_size;
  };

  std::string_view Name(const Place& place) const {
    return std::string_view(text_).substr(place.begin, place.name_size);
  }
  Header At(size_t index) const {
    const Place& place = places_[index];
    return {Name(place),
            std::string_view(text_).substr(place.begin + place.name_size, place.value_size)};
  }

  std::string text_;
  std::vector<Place> places_;
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
  // True if its header passed the check that comes before a body (HttpRouter::AtHeader), which is
  // not to be made again. Only that check sets it.
  bool checked_at_header = false;
  // Set by HttpServer.
  Endpoint peer;
  TimePoint received;
  bool is_encrypted = false;  // it came over TLS
  // Cancelled on the connection's loop when the client disconnects before it is answered. Calls
  // made with it end then (RequestContext, ClientSession). Null: there is no connection.
  std::shared_ptr<IncomingCall> call;

  // True if the client has disconnected, so that a long handler may stop early.
  bool ClientGone() const;

  // Returns the first parameter of that name.
  std::optional<std::string_view> Parameter(std::string_view name) const;
};

// A request of HTTP/1.1 as it arrived, GET or HEAD without a body, for those who answer it without
// an HttpRequest (HttpShortWay). The views are into the bytes of the connection.
struct HttpGlance {
  static constexpr size_t kHeaderCountMax = 32;

  bool is_head = false;
  std::string_view target;  // as sent, in origin form; it may be malformed
  std::array<HttpHeaders::Header, kHeaderCountMax> headers;
  size_t header_count = 0;
  // Set by HttpServer.
  Endpoint peer;
  TimePoint received;
};

// Limits of a request that is read (request_reader.h).
struct HttpReaderOptions {
  // Maximum size of request line and headers together. Default: 16 KiB, enough for browsers with
  // cookies.
  size_t header_size_max = 16 * 1024;
  // Maximum size of the request target; effective below header_size_max only. Default: 8 KiB.
  size_t target_size_max = 8 * 1024;
  // Maximum size of the decoded body. Default: 1 MiB.
  size_t body_size_max = 1 << 20;
  // Maximum number of headers. Default: 100.
  size_t header_count_max = 100;
  // Maximum number of query parameters. Default: 100.
  size_t parameter_count_max = 100;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
  // Immutable bytes that several responses share, for example a prepared file or a kept page. If
  // set, they are the body and `body` is empty.
  std::shared_ptr<const std::string> shared_body = nullptr;

  std::string_view body_bytes() const { return shared_body != nullptr ? *shared_body : body; }

  static HttpResponse Text(int status, std::string body);
  static HttpResponse Html(int status, std::string body);
  static HttpResponse Json(int status, std::string body);
};

// What is decided about the body of a request once its header is there.
struct HttpBodyPermit {
  // Maximum size of the body, besides that of HttpReaderOptions.
  size_t size_max = SIZE_MAX;
  // The answer instead of reading the body; the connection ends after it.
  std::optional<HttpResponse> refusal = std::nullopt;
};

// The head of responses that differ in their date and in a few headers only, as it is sent: the
// status line, Date, `begin`, headers of each response, `end`.
struct PreparedHttpHead {
  std::string begin;
  std::string end;  // with the empty line after the headers
};

// Returns for example "Not Found" for 404; "Unknown" for an unknown status.
std::string_view HttpReasonPhrase(int status);

// True if the texts are equal ignoring the case of ASCII letters.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace neptune
