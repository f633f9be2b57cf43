// Incremental parser of HTTP/1.1 responses, for clients.
//
// Source: RFC 9112. Boost.Beast parses; this header does not expose it.
// No I/O, no clock.
// Threads: thread-compatible.
// Errors: INVALID_ARGUMENT malformed, over a limit, or in a transfer coding other than "chunked";
//   UNAVAILABLE the connection ended inside a response. An error is final.
// Limits: HttpResponseReaderOptions.

#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

struct HttpResponseReaderOptions {
  size_t header_size_max = 64 * 1024;
  // Maximum size of a body. Default: 64 MiB.
  size_t body_size_max = 64 << 20;
};

class HttpResponseReader {
 public:
  explicit HttpResponseReader(const HttpResponseReaderOptions& options = {});
  ~HttpResponseReader();

  // Announces a request that was sent, in order. Needed because the answer to HEAD has no body,
  // whatever its headers say.
  void Expect(std::string_view method);
  void Feed(std::string_view bytes);
  // Announces the end of the connection, which ends a body without a length.
  void FeedEnd();

  // Returns the next complete final response (1xx are skipped); nullopt if more bytes are needed.
  StatusOr<std::optional<HttpResponse>> Next();
  // True if another request may be sent on the connection after the response last returned.
  bool keep_alive() const { return keep_alive_; }

 private:
  struct Parsing;
  StatusOr<bool> Advance();
  HttpResponse Take();

  const HttpResponseReaderOptions options_;
  std::string buffer_;
  size_t consumed_ = 0;
  std::deque<bool> head_expected_;
  std::unique_ptr<Parsing> parsing_;
  Status status_;
  bool ended_ = false;
  bool keep_alive_ = true;
};

}  // namespace neptune
