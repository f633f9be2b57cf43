// Incremental parser of HTTP/1.1 requests.
//
//   bytes --Feed--> buffer --Next--> request, request, ... | needs more | error (final)
//                               │
//                               └ the header of a request with a body is there: HttpBodyGate
//
// It is stricter than the grammar where two parsers could disagree about where a request ends, or
// for whom it is: the README has the list, and request_reader_differential_fuzz_test holds it.
//
// Source: RFC 9112. Boost.Beast parses; this header does not expose it.
// No I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes.
// Errors: error() has the status of the answer: 400 malformed, 413 body too large, 414 target too
//   long, 417 unknown expectation, 431 header too large or too many headers, 501 transfer coding or
//   CONNECT, 503 no room for the body, 505 version; or the answer of the gate.
// Limits: HttpReaderOptions. Next parses one request at a time and the buffer is not limited here:
//   the caller must stop feeding while requests wait.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace neptune {

struct HttpReadError {
  int status = 400;
  std::string reason;  // for people; lower case, no full stop
  // The answer, if the gate gave it.
  std::optional<HttpResponse> response{};
  bool is_head = false;  // an answer to HEAD has no body
};

// Decides about the body of a request before it is read.
class HttpBodyGate {
 public:
  virtual ~HttpBodyGate() = default;
  // The header of a request with a body is there. May set the request's peer and time; must not
  // wait.
  virtual HttpBodyPermit Admit(HttpRequest* head) = 0;
  // The body is about to grow to at most `size` bytes; false: there is no room for it.
  virtual bool Hold(size_t size) = 0;
};

class HttpRequestReader {
 public:
  // `gate`: outlives the reader; null: every body within the limits is read.
  explicit HttpRequestReader(const HttpReaderOptions& options = {}, HttpBodyGate* gate = nullptr);
  ~HttpRequestReader();
  HttpRequestReader(HttpRequestReader&&) noexcept;
  HttpRequestReader& operator=(HttpRequestReader&&) noexcept;

  // Copies the bytes. Between requests only a small buffer is kept.
  void Feed(std::string_view bytes);

  // Returns the next complete request; nullopt if more bytes are needed or after an error.
  std::optional<HttpRequest> Next();
  // Drops the request that is being read, and reads no more: `error` from now on, unless there was
  // one before.
  void Refuse(HttpReadError error);

  const std::optional<HttpReadError>& error() const { return error_; }

  // The part of a request in which the bytes consumed by Next end.
  enum class Phase { kBetweenRequests, kInHeader, kInBody };
  Phase phase() const;
  // Bytes of the body that have arrived, in the phase kInBody.
  size_t body_size() const;
  // Returns true once per request whose client waits for "100 Continue" before it sends the body.
  bool ConsumeExpectsContinue();
  size_t buffered_size() const { return buffer_.size() - consumed_; }
  // True if the next byte that is fed begins a request.
  bool awaits_request() const { return !error_ && parsing_ == nullptr && buffered_size() == 0; }

 private:
  struct Parsing;

  std::string_view rest() const { return std::string_view(buffer_).substr(consumed_); }
  void DropConsumed();
  bool FindHeaderEnd();
  bool CheckLine(std::string_view line, bool is_first);
  bool CheckRequestLine(std::string_view line);
  bool ReadHeader();
  bool ParseHeader();
  bool CheckHost();
  bool CheckFraming();
  bool CheckExpectation();
  bool ParseTarget(std::string_view target);
  bool ParseAbsoluteTarget(std::string_view target);
  bool AdmitBody();
  bool ReadBody();
  bool IsTrailerFolded() const;
  bool FailBodySize();
  bool Fail(int status, std::string reason);

  HttpReaderOptions options_;
  HttpBodyGate* gate_;
  std::string buffer_;
  size_t consumed_ = 0;
  std::unique_ptr<Parsing> parsing_;
  std::optional<HttpReadError> error_;
  bool expects_continue_ = false;
};

}  // namespace neptune
