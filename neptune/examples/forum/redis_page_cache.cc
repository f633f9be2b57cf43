#include "neptune/examples/forum/redis_page_cache.h"

#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_split.h"
#include "neptune/base/checksum.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/strings.h"
#include "neptune/examples/forum/page_store.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/network.h"

namespace neptune::examples {
namespace {

struct ContextDeleter {
  void operator()(redisContext* context) const { redisFree(context); }
};
using Connection = std::unique_ptr<redisContext, ContextDeleter>;

struct ReplyDeleter {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyDeleter>;

class RedisServer {
 public:
  explicit RedisServer(const Endpoint& endpoint)
      : name_(endpoint.ToString()), host_(name_.substr(0, name_.find(':'))), port_(endpoint.port) {}

  // Sends one command that consists of `words`.
  StatusOr<Reply> Ask(const std::vector<std::string_view>& words, TimePoint deadline) {
    const Duration left = deadline - this_thread::Now();
    if (left <= Duration(0)) return DeadlineExceeded("asking redis at ", name_);
    const timeval limit{.tv_sec = left / std::chrono::seconds(1),
                        .tv_usec = left % std::chrono::seconds(1) / std::chrono::microseconds(1)};
    Connection connection = PopIdle();
    if (connection == nullptr) {
      connection.reset(redisConnectWithTimeout(host_.c_str(), port_, limit));
    }
    if (connection == nullptr) return Unavailable("out of memory for redis at ", name_);
    if (connection->err == 0) redisSetTimeout(connection.get(), limit);
    Reply reply = connection->err == 0 ? Send(*connection, words) : nullptr;
    if (reply == nullptr) return Unavailable("redis at ", name_, ": ", connection->errstr);
    if (reply->type == REDIS_REPLY_ERROR) {
      return Unavailable("redis at ", name_, ": ", std::string_view(reply->str, reply->len));
    }
    KeepIdle(std::move(connection));
    return reply;
  }

 private:
  static Reply Send(redisContext& connection, const std::vector<std::string_view>& words) {
    std::vector<const char*> pointers;
    std::vector<size_t> sizes;
    for (const std::string_view word : words) {
      pointers.push_back(word.data());
      sizes.push_back(word.size());
    }
    return Reply(static_cast<redisReply*>(redisCommandArgv(
        &connection, static_cast<int>(words.size()), pointers.data(), sizes.data())));
  }

  Connection PopIdle() {
    LeafLock lock(&mutex_);
    if (idle_.empty()) return nullptr;
    Connection connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  void KeepIdle(Connection connection) {
    LeafLock lock(&mutex_);
    if (idle_.size() < kIdleConnectionCountMax) idle_.push_back(std::move(connection));
  }

  const std::string name_;
  const std::string host_;
  const uint16_t port_;
  LeafMutex mutex_;
  std::vector<Connection> idle_ ABSL_GUARDED_BY(mutex_);
};

class RedisPageCache final : public PageCache {
 public:
  explicit RedisPageCache(std::string addresses) : addresses_(std::move(addresses)) {}

  void DeclareParameters(ParameterTable& table) override {
    table.RequiredText("redis_servers", &addresses_,
                       "addresses of Redis servers: HOST:PORT,HOST:PORT");
  }

  Status Start() override {
    for (const auto text : absl::StrSplit(ToAbsl(addresses_), ',')) {
      NEPTUNE_ASSIGN_OR_RETURN(const Endpoint endpoint, Endpoint::Parse(ToStd(text)));
      servers_.push_back(std::make_unique<RedisServer>(endpoint));
    }
    return OkStatus();
  }

  StatusOr<std::optional<std::string>> Find(const std::string& name,
                                            const PageCacheUse& use) override {
    NEPTUNE_ASSIGN_OR_RETURN(const Reply reply, ServerOf(name).Ask({"GET", name}, use.deadline));
    if (reply->type != REDIS_REPLY_STRING) return std::nullopt;
    return std::string(reply->str, reply->len);
  }

  Status Store(const std::string& name, const std::string& page, const PageCacheUse& use) override {
    const std::string lifetime_s = StrCat(kPageLifetime / std::chrono::seconds(1));
    return ServerOf(name).Ask({"SET", name, page, "EX", lifetime_s}, use.deadline).status();
  }

  Status Drop(const std::string& name, const PageCacheUse& use) override {
    return ServerOf(name).Ask({"DEL", name}, use.deadline).status();
  }

 private:
  RedisServer& ServerOf(const std::string& name) const {
    return *servers_[Checksum64(name) % servers_.size()];
  }

  std::string addresses_;
  std::vector<std::unique_ptr<RedisServer>> servers_;  // fixed by Start
};

}  // namespace

std::unique_ptr<PageCache> MakeRedisPageCache() { return std::make_unique<RedisPageCache>(""); }

StatusOr<std::unique_ptr<PageCache>> RedisPageCacheAt(std::string servers) {
  auto cache = std::make_unique<RedisPageCache>(std::move(servers));
  NEPTUNE_RETURN_IF_ERROR(cache->Start());
  return cache;
}

}  // namespace neptune::examples
