// Parses the answers on one HTTP/1.1 connection at the low cost that a load generator needs.
//
// Source: RFC 9112; the part needed for answers to GET: Content-Length, chunked, or until the
//   connection closes.
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

  // Parses bytes as they arrive; returns true if `reply` is complete. Skips answers with status
  // 1xx.
  neptune::StatusOr<bool> Feed(std::string_view bytes, HttpReply* reply);
  // Call when the connection ends; returns true if that completes a reply without a length.
  bool FeedEnd(HttpReply* reply);
  // True if a reply has begun and is not complete.
  bool within_reply() const { return !buffer_.empty() || head_read_; }

 private:
  enum class Length { kGiven, kChunked, kUntilEnd };

  neptune::StatusOr<bool> Advance(HttpReply* reply);
  neptune::Status ReadHead(std::string_view head);
  neptune::StatusOr<bool> ReadBody(HttpReply* reply);
  neptune::StatusOr<bool> ReadChunks();
  void Take(HttpReply* reply);

  std::string buffer_;  // unparsed bytes of the current reply
  std::string done_;    // body of the last returned reply
  bool head_read_ = false;
  int status_ = 0;
  bool keep_alive_ = true;
  Length length_ = Length::kUntilEnd;
  size_t body_size_ = 0;
  std::string chunks_;
};

}  // namespace search::tools
