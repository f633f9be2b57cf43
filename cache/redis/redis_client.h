// Sends commands to one Redis server with hiredis; each concurrent call uses its own connection.
//
// Threads: thread-safe; every call blocks the kernel thread, for at most about the timeout per part
//   of a reply.
// Errors: UNAVAILABLE no connection, no reply in time, a malformed reply, or a refused password.
//   The connection is then closed, so that a late reply is never taken for that of a later command.
//   An error reported by the server is a reply.
// Limits: kIdleConnectionCountMax idle connections; kElementCountMax elements in an array of a
//   reply.

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

// What the server demands of a connection; without a password nothing.
struct RedisLogin {
  std::string user;  // empty: the default user
  std::string password;
};

class RedisClient {
 public:
  static constexpr size_t kIdleConnectionCountMax = 16;
  static constexpr size_t kElementCountMax = 64;

  // `server` is HOST:PORT. Connects on the first call. Errors: INVALID_ARGUMENT.
  static neptune::StatusOr<std::unique_ptr<RedisClient>> Create(std::string_view server,
                                                                neptune::Duration timeout,
                                                                RedisLogin login = {});

  // Sends the commands in one batch and returns their replies in the same order; none is null.
  neptune::StatusOr<std::vector<RedisReply>> Ask(const std::vector<RedisCommand>& commands);

 private:
  struct ContextDeleter {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  using Connection = std::unique_ptr<redisContext, ContextDeleter>;

  RedisClient(std::string host, uint16_t port, neptune::Duration timeout, RedisLogin login)
      : host_(std::move(host)), port_(port), timeout_(timeout), login_(std::move(login)) {}
  neptune::StatusOr<Connection> Connect() const;
  neptune::Status LogIn(redisContext* connection) const;
  // Returns an idle connection, null if there is none.
  Connection PopIdle();
  void KeepIdle(Connection connection);
  neptune::Status Error(const char* what) const;

  const std::string host_;
  const uint16_t port_;
  const neptune::Duration timeout_;
  const RedisLogin login_;
  neptune::LeafMutex mutex_;
  std::vector<Connection> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::cache
