// Commands to one Redis server by hiredis, on as many connections as callers ask at once.
//
// Threads: thread-safe; every call blocks the kernel thread, for at most about the
//   timeout for each piece of an answer.
// Errors: UNAVAILABLE no connection, no answer in time, or bytes that are no answer. After one its connection is closed,
//   so that no late answer is taken for that of a later command. What the server says of an error is an answer.
// Limits: kIdleConnectionCountMax connections are kept; kElementCountMax elements an array of an answer.

#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::cache {

struct RedisReplyDeleter {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, RedisReplyDeleter>;
using RedisCommand = std::vector<std::string_view>;

class RedisClient {
 public:
  static constexpr size_t kIdleConnectionCountMax = 16;
  static constexpr size_t kElementCountMax = 64;

  // `server` is HOST:PORT. Connects when it is first asked. Errors: INVALID_ARGUMENT.
  static neptune::StatusOr<std::unique_ptr<RedisClient>> Create(std::string_view server,
                                                                neptune::Duration timeout);

  // The answers to these commands, sent together, in their order; none is null.
  neptune::StatusOr<std::vector<RedisReply>> Ask(const std::vector<RedisCommand>& commands);

 private:
  struct ContextDeleter {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  using Connection = std::unique_ptr<redisContext, ContextDeleter>;

  RedisClient(std::string host, uint16_t port, neptune::Duration timeout)
      : host_(std::move(host)), port_(port), timeout_(timeout) {}
  neptune::StatusOr<Connection> Connect() const;
  // Null if there is none.
  Connection PopIdle();
  void KeepIdle(Connection connection);
  neptune::Status Error(const char* what) const;

  const std::string host_;
  const uint16_t port_;
  const neptune::Duration timeout_;
  neptune::LeafMutex mutex_;
  std::vector<Connection> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::cache
