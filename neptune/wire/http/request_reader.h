// Reads HTTP/1.1 requests from the bytes of a connection, whatever pieces they arrive in.
//
//   bytes --Feed--> buffer --Next--> request, request, ... | needs more | error (and no more
//   requests)
//
// Stricter than the grammar where leniency lets two readers disagree about where a request ends:
// Transfer-Encoding other than "chunked" alone, Transfer-Encoding with Content-Length, repeated
// differing lengths, and HTTP/1.1 without exactly one Host are refused.
//
// Source: RFC 9112; parsed by Boost.Beast, which stays behind this header.
// No I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes.
// Errors: error() names the answer's status: 400 malformed, 413 body, 414 target, 431 header too
//   large or too many, 501 transfer coding, 505 version.
// Limits: HttpReaderOptions. Next parses one request at a time, so what is buffered is bounded by
//   whoever feeds: stop feeding while requests wait.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace neptune {

struct HttpReaderOptions {
  // Request line and headers together. Default: 16 KiB, what browsers with cookies stay under.
  size_t header_size_max = 16 * 1024;
  // Request target. Default: 8 KiB. More than header_size_max has no effect.
  size_t target_size_max = 8 * 1024;
  // Body after decoding. Default: 1 MiB.
  size_t body_size_max = 1 << 20;
  // Headers. Default: 100.
  size_t header_count_max = 100;
  // Parameters of the query. Default: 100.
  size_t parameter_count_max = 100;
};

struct HttpReadError {
  int status = 400;
  std::string reason;  // for people; lower case, no full stop
};

class HttpRequestReader {
 public:
  explicit HttpRequestReader(const HttpReaderOptions& options = {});
  ~HttpRequestReader();
  HttpRequestReader(HttpRequestReader&&) noexcept;
  HttpRequestReader& operator=(HttpRequestReader&&) noexcept;

  void Feed(std::string_view bytes);

  // The next complete request; none if more bytes are needed or after an error.
  std::optional<HttpRequest> Next();

  const std::optional<HttpReadError>& error() const { return error_; }

  // Where the bytes fed so far end, as far as Next has looked at them.
  enum class Phase { kBetweenRequests, kInHeader, kInBody };
  Phase phase() const;
  // True once for each request whose client waits for "100 Continue" before it sends the body.
  bool ConsumeExpectsContinue();
  size_t buffered_size() const { return buffer_.size() - consumed_; }

 private:
  struct Parsing;

  std::string_view rest() const { return std::string_view(buffer_).substr(consumed_); }
  bool ReadHeader();
  bool ReadBody();
  bool CheckRequestLine();
  bool ParseHeader();
  bool CheckFraming();
  bool ParseTarget(std::string_view target);
  bool Fail(int status, std::string reason);

  HttpReaderOptions options_;
  std::string buffer_;
  size_t consumed_ = 0;
  std::unique_ptr<Parsing> parsing_;
  std::optional<HttpReadError> error_;
  bool expects_continue_ = false;
};

}  // namespace neptune
