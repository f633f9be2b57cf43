#include "neptune/examples/guestbook/redis_guestbook.h"

#include <hiredis/hiredis.h>

#include <memory>

#include "neptune/base/strings.h"

namespace neptune::examples {

// Uses Redis like any program: connect, send, wait for the answer. Each step may block.
StatusOr<uint64_t> RedisGuestbook::Sign(const DatabaseAddress& redis, const std::string& name) {
  const std::unique_ptr<redisContext, decltype(&redisFree)> connection(
      redisConnect(redis.host.c_str(), redis.port), &redisFree);
  if (connection == nullptr || connection->err != 0) {
    return Unavailable("connecting to Redis: ",
                       connection == nullptr ? "out of memory" : connection->errstr);
  }
  const std::string key = StrCat("guestbook:", name);
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommand(connection.get(), "INCR %b", key.data(), key.size())),
      &freeReplyObject);
  if (reply == nullptr) return Unavailable("querying Redis: ", connection->errstr);
  if (reply->type != REDIS_REPLY_INTEGER) return Unavailable("Redis did not return an integer");
  return static_cast<uint64_t>(reply->integer);
}

}  // namespace neptune::examples
