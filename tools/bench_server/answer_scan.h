// Finds the end of a server's answer among the bytes that a connection has received so far.
//
// Source: RFC 9112 for HTTP/1.1; the Redis serialization protocol, version 2.
// Threads: pure functions.
// Errors: a malformed answer is AnswerScan::State::kBroken.
// Limits: kAnswerSizeMax; replies of Redis nest at most kReplyDepthMax deep.

#pragma once

#include <cstddef>
#include <string_view>

namespace search::tools {

inline constexpr size_t kAnswerSizeMax = size_t{64} << 20;
inline constexpr int kReplyDepthMax = 16;

struct AnswerScan {
  enum class State { kMore, kDone, kBroken };
  State state = State::kMore;
  // Valid if the state is kDone.
  size_t size = 0;      // bytes of the answer
  int status = 0;       // status of HTTP; for Redis 200, 503 (not ready) or 500 (another error)
  bool closes = false;  // the server closes the connection after this answer
};

// `at_end`: the server has closed the connection, which ends a body without a length. Interim
// answers (1xx) are not expected and count as answers.
AnswerScan ScanHttpAnswer(std::string_view bytes, bool at_end);

// A reply of Redis; `at_end` makes an incomplete one broken.
AnswerScan ScanRedisAnswer(std::string_view bytes, bool at_end);

}  // namespace search::tools
