// Incremental parser of HTTP/1.1 requests.
//
//   bytes --Feed--> buffer --Next--> request, request, ... | needs more | error (final)
//
// It is stricter than the grammar where two parsers could disagree about where a request ends: it
// refuses any Transfer-Encoding except "chunked" alone, Transfer-Encoding with Content-Length,
// repeated differing lengths, and HTTP/1.1 without exactly one Host.
//
// Source: RFC 9112. Boost.Beast parses; this header does not expose it.
// No I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes.
// Errors: error() has the status of the answer: 400 malformed, 413 body too large, 414 target too
//   long, 431 header too large or too many headers, 501 transfer coding, 505 version.
// Limits: HttpReaderOptions. Next parses one request at a time and the buffer is not limited here:
//   the caller must stop feeding while requests wait.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace neptune {

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

  // Copies the bytes. Between requests only a small buffer is kept.
  void Feed(std::string_view bytes);

  // Returns the next complete request; nullopt if more bytes are needed or after an error.
  std::optional<HttpRequest> Next();

  const std::optional<HttpReadError>& error() const { return error_; }

  // The part of a request in which the bytes consumed by Next end.
  enum class Phase { kBetweenRequests, kInHeader, kInBody };
  Phase phase() const;
  // Returns true once per request whose client waits for "100 Continue" before it sends the body.
  bool ConsumeExpectsContinue();
  size_t buffered_size() const { return buffer_.size() - consumed_; }
  // True if the next byte that is fed begins a request.
  bool awaits_request() const { return !error_ && parsing_ == nullptr && buffered_size() == 0; }

 private:
  struct Parsing;

  std::string_view rest() const { return std::string_view(buffer_).substr(consumed_); }
  void DropConsumed();
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
