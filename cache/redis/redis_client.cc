#include "cache/redis/redis_client.h"

#include <sys/time.h>

#include <charconv>
#include <utility>

namespace search::cache {
namespace {

const redisReplyObjectFunctions* library_functions = nullptr;

// hiredis allocates memory for as many elements as a reply claims to have before reading any of
// them.
template <typename Count>
void* CreateBoundedArray(const redisReadTask* task, Count element_count) {
  if (static_cast<size_t>(element_count) > RedisClient::kElementCountMax) return nullptr;
  return library_functions->createArray(task, element_count);
}

redisReplyObjectFunctions* BoundedFunctions(const redisReplyObjectFunctions* library) {
  static redisReplyObjectFunctions functions = [library] {
    library_functions = library;
    redisReplyObjectFunctions bounded = *library;
    bounded.createArray = &CreateBoundedArray;
    return bounded;
  }();
  return &functions;
}

}  // namespace

neptune::StatusOr<std::unique_ptr<RedisClient>> RedisClient::Create(std::string_view server,
                                                                    neptune::Duration timeout,
                                                                    RedisLogin login) {
  const size_t colon = server.rfind(':');
  uint16_t port = 0;
  const char* const end = server.data() + server.size();
  const char* const begin = colon == std::string_view::npos ? end : server.data() + colon + 1;
  const auto parsed = std::from_chars(begin, end, port);
  if (colon == 0 || parsed.ec != std::errc() || parsed.ptr != end || port == 0) {
    return neptune::InvalidArgument("redis server '", server, "' must be HOST:PORT");
  }
  if (timeout < std::chrono::milliseconds(1) || timeout > std::chrono::minutes(1)) {
    return neptune::InvalidArgument("the timeout of a redis server must be 1 ms to 1 min");
  }
  return std::unique_ptr<RedisClient>(
      new RedisClient(std::string(server.substr(0, colon)), port, timeout, std::move(login)));
}

neptune::Status RedisClient::Error(const char* what) const {
  return neptune::Unavailable("redis at ", host_, ":", port_, ": ", what);
}

neptune::StatusOr<RedisClient::Connection> RedisClient::Connect() const {
  const timeval limit{.tv_sec = timeout_ / std::chrono::seconds(1),
                      .tv_usec = timeout_ % std::chrono::seconds(1) / std::chrono::microseconds(1)};
  Connection connection(redisConnectWithTimeout(host_.c_str(), port_, limit));
  if (connection == nullptr) return Error("out of memory");
  if (connection->err != 0) return Error(connection->errstr);
  connection->reader->fn = BoundedFunctions(connection->reader->fn);
  if (redisSetTimeout(connection.get(), limit) != REDIS_OK) return Error(connection->errstr);
  if (!login_.password.empty()) NEPTUNE_RETURN_IF_ERROR(LogIn(connection.get()));
  return connection;
}

// The server's reasons name no password.
neptune::Status RedisClient::LogIn(redisContext* connection) const {
  std::vector<const char*> words = {"AUTH"};
  std::vector<size_t> sizes = {4};
  for (const std::string* const word : {&login_.user, &login_.password}) {
    if (word->empty()) continue;
    words.push_back(word->data());
    sizes.push_back(word->size());
  }
  const RedisReply reply(static_cast<redisReply*>(
      redisCommandArgv(connection, static_cast<int>(words.size()), words.data(), sizes.data())));
  if (reply == nullptr) return Error(connection->errstr);
  if (reply->type == REDIS_REPLY_STATUS) return neptune::OkStatus();
  return Error(reply->type == REDIS_REPLY_ERROR ? reply->str : "no answer to AUTH");
}

neptune::StatusOr<std::vector<RedisReply>> RedisClient::Ask(
    const std::vector<RedisCommand>& commands) {
  Connection connection = PopIdle();
  if (connection == nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(connection, Connect());
  }
  for (const RedisCommand& words : commands) {
    std::vector<const char*> pointers;
    std::vector<size_t> sizes;
    for (const std::string_view word : words) {
      pointers.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(connection.get(), static_cast<int>(words.size()), pointers.data(),
                           sizes.data());
  }
  std::vector<RedisReply> replies;
  for (size_t i = 0; i < commands.size(); ++i) {
    void* reply = nullptr;
    if (redisGetReply(connection.get(), &reply) != REDIS_OK || reply == nullptr) {
      return Error(connection->errstr);
    }
    replies.emplace_back(static_cast<redisReply*>(reply));
  }
  KeepIdle(std::move(connection));
  return replies;
}

RedisClient::Connection RedisClient::PopIdle() {
  neptune::LeafLock lock(&mutex_);
  if (idle_.empty()) return nullptr;
  Connection connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void RedisClient::KeepIdle(Connection connection) {
  neptune::LeafLock lock(&mutex_);
  if (idle_.size() < kIdleConnectionCountMax) idle_.push_back(std::move(connection));
}

}  // namespace search::cache
