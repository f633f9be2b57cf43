// Reads the answers of one HTTP/1.1 connection, as cheaply as a load generator must.
//
// Source: RFC 9112; as much of it as answers to GET need: Content-Length, chunked, until the end.
// No I/O.
// Threads: thread-compatible.
// Errors: INVALID_ARGUMENT malformed or over a limit. Nothing is read after an error.
// Limits: kHeadSizeMax, kBodySizeMax.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::tools {

struct HttpReply {
  int status = 0;
  bool keep_alive = true;
  std::string_view body;  // valid until the next call
};

class HttpReplyReader {
 public:
  static constexpr size_t kHeadSizeMax = 64 * 1024;
  static constexpr size_t kBodySizeMax = size_t{64} << 20;

  // Takes bytes as they arrive; true if `reply` is complete. Answers with status 1xx are passed
  // over.
  neptune::StatusOr<bool> Feed(std::string_view bytes, HttpReply* reply);
  // The connection ended; true if that completes a reply without a length.
  bool FeedEnd(HttpReply* reply);
  // Whether a reply has begun and is not complete.
  bool within_reply() const { return !buffer_.empty() || head_read_; }

 private:
  enum class Length { kGiven, kChunked, kUntilEnd };

  neptune::StatusOr<bool> Advance(HttpReply* reply);
  neptune::Status ReadHead(std::string_view head);
  neptune::StatusOr<bool> ReadBody(HttpReply* reply);
  neptune::StatusOr<bool> ReadChunks();
  void Take(HttpReply* reply);

  std::string buffer_;  // bytes of this reply that were not used up
  std::string done_;    // holds the body of the reply that was handed out
  bool head_read_ = false;
  int status_ = 0;
  bool keep_alive_ = true;
  Length length_ = Length::kUntilEnd;
  size_t body_size_ = 0;
  std::string chunks_;
};

}  // namespace search::tools
