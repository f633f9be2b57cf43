#include "neptune/examples/guestbook/guestbook_module.h"

#include <hiredis/hiredis.h>

#include <cstdlib>
#include <memory>

#include "neptune/base/strings.h"

namespace neptune::examples {
namespace {

struct Redis {
  std::string host;
  int port = 0;
};

// As any program would ask Redis: connect, send, wait for the answer. Each step may block.
StatusOr<long long> Increment(const Redis& redis, const std::string& key) {
  const std::unique_ptr<redisContext, decltype(&redisFree)> connection(
      redisConnect(redis.host.c_str(), redis.port), &redisFree);
  if (connection == nullptr || connection->err != 0) {
    return Unavailable("connecting to Redis: ",
                       connection == nullptr ? "no memory" : connection->errstr);
  }
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommand(connection.get(), "INCR %b", key.data(), key.size())),
      &freeReplyObject);
  if (reply == nullptr) return Unavailable("asking Redis: ", connection->errstr);
  if (reply->type != REDIS_REPLY_INTEGER) return Unavailable("Redis answers no number");
  return reply->integer;
}

StatusOr<std::string> Parameter(const ModuleContext& context, const std::string& name) {
  const auto found = context.parameters.find(name);
  if (found == context.parameters.end()) return InvalidArgument("no parameter ", name);
  return found->second;
}

}  // namespace

Status GuestbookModule::Start(ModuleContext& context) {
  Redis redis;
  NEPTUNE_ASSIGN_OR_RETURN(redis.host, Parameter(context, "redis_host"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string port, Parameter(context, "redis_port"));
  redis.port = std::atoi(port.c_str());
  context.registrar.Method(
      MethodName(kSign), {.access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false},
      [redis](RequestContext&, const Data& request, Data* response) -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(const long long count,
                                 Increment(redis, StrCat("guestbook:", request.bytes())));
        *response = Data(StrCat(request.bytes(), " has signed ", count, " times"));
        return OkStatus();
      });
  context.registrar.Method(MethodName(kGreet), {.grain = Grain::kLong},
                           [](RequestContext&, const Data& request, Data* response) {
                             *response = Data(StrCat("hello, ", request.bytes()));
                             return OkStatus();
                           });
  return OkStatus();
}

}  // namespace neptune::examples
