#include "cache/redis/redis_cache.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "cache/redis/redis_client.h"
#include "cache/redis/redis_entry.h"
#include "neptune/base/strings.h"

namespace search::cache {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr size_t kSizeMin = 64u << 10;
constexpr size_t kKeyPrefixSizeMax = 256;
// Time to live of an entry that is kept until evicted.
constexpr neptune::Duration kUnlimited = std::chrono::hours(24 * 365);

// KEYS: sums, order, sizes. ARGV[1]: prefix of the keys of entries. A script returns the number of
// evicted entries, the remaining bytes and entries, and the number of the last insert.
constexpr std::string_view kScriptBegin = R"(
local function drop(query)
  local size = redis.call('HGET', KEYS[3], query)
  if not size then return 0 end
  redis.call('UNLINK', ARGV[1] .. query)
  redis.call('HDEL', KEYS[3], query)
  redis.call('ZREM', KEYS[2], query)
  redis.call('HINCRBY', KEYS[1], 'total', -size)
  return 1
end
local function total() return tonumber(redis.call('HGET', KEYS[1], 'total') or '0') end
local pushed = 0
)";
constexpr std::string_view kScriptEnd = R"(
return {pushed, math.max(total(), 0), redis.call('ZCARD', KEYS[2]), tonumber(redis.call('HGET', KEYS[1], 'number') or '0')}
)";

// ARGV: query, entry, milliseconds to live, size, size_max. The command that needs memory comes
// first, so that Redis refuses it before anything has changed.
constexpr std::string_view kInsert = R"(
redis.call('SET', ARGV[1] .. ARGV[2], ARGV[3], 'PX', ARGV[4])
local before = redis.call('HGET', KEYS[3], ARGV[2]) or 0
redis.call('HSET', KEYS[3], ARGV[2], ARGV[5])
redis.call('HINCRBY', KEYS[1], 'total', ARGV[5] - before)
redis.call('ZADD', KEYS[2], redis.call('HINCRBY', KEYS[1], 'number', 1), ARGV[2])
while total() > tonumber(ARGV[6]) and pushed < 10000 do
  pushed = pushed + drop(redis.call('ZRANGE', KEYS[2], 0, 0)[1])
end
)";
// ARGV: query.
constexpr std::string_view kDrop = "drop(ARGV[2])\n";
// Drops the oldest thousand.
constexpr std::string_view kDropOldest = R"(
for _, query in ipairs(redis.call('ZRANGE', KEYS[2], 0, 999)) do drop(query) end
)";

Status CheckKind(const redisReply& reply, int kind) {
  if (reply.type == kind) return neptune::OkStatus();
  if (reply.type == REDIS_REPLY_ERROR) return neptune::Unavailable("redis says: ", reply.str);
  return neptune::Unavailable("redis: reply of an unexpected type");
}

class RedisCache final : public ResultCache {
 public:
  RedisCache(const ResultCacheOptions& options, std::unique_ptr<RedisClient> client)
      : options_(options),
        client_(std::move(client)),
        entry_prefix_(options.key_prefix + ":v:"),
        keys_{options.key_prefix + ":sums", options.key_prefix + ":order",
              options.key_prefix + ":sizes"} {}

  StatusOr<std::optional<CachedResult>> Lookup(const CacheKey& key, TimePoint now) override {
    const std::optional<CachedResult> none;
    if (key.query.empty() || key.query.size() > kKeySizeMax) return CountMiss(none);
    const std::string name = StrCat(entry_prefix_, key.query);
    // Reads one byte more than the limit, so that a longer value is not taken for a whole one.
    const std::string last = StrCat(options_.value_size_max + EntryOverhead());
    // Moves the query to the newest position that this process knows. A full Redis refuses only
    // this command.
    const std::string order = StrCat(number_.load());
    NEPTUNE_ASSIGN_OR_RETURN(const auto replies,
                             client_->Ask({{"GETRANGE", name, "0", last},
                                           {"PTTL", name},
                                           {"ZADD", keys_[1], "XX", "GT", order, key.query}}));
    NEPTUNE_RETURN_IF_ERROR(CheckKind(*replies[0], REDIS_REPLY_STRING));
    NEPTUNE_RETURN_IF_ERROR(CheckKind(*replies[1], REDIS_REPLY_INTEGER));
    if (replies[0]->len == 0 || replies[1]->integer < 0) return CountMiss(none);
    NEPTUNE_ASSIGN_OR_RETURN(RedisEntry entry,
                             DecodeRedisEntry({replies[0]->str, replies[0]->len},
                                              {.key = name, .secrets = options_.seal_secrets}));
    if (entry.index_version != key.index_version) return CountMiss(none);
    const neptune::Duration age = AgeOf(entry, std::chrono::milliseconds(replies[1]->integer), now);
    if (entry.time_to_live_ns > 0 && age >= neptune::Duration(entry.time_to_live_ns)) {
      ++expiration_count_;
      return CountMiss(none);
    }
    ++hit_count_;
    return std::optional(
        CachedResult{std::make_shared<const std::string>(std::move(entry.value)), age});
  }

  StatusOr<bool> Insert(const CacheKey& key, CacheValue value, TimePoint now) override {
    if (key.query.empty() || key.query.size() > kKeySizeMax) return Refuse();
    const size_t size = value.value.size() + 3 * key.query.size() + kRedisEntrySize;
    if (value.value.size() > options_.value_size_max || size > options_.size_max ||
        value.time_to_live < neptune::Duration::zero()) {
      NEPTUNE_RETURN_IF_ERROR(Run(kDrop, {key.query}));
      return Refuse();
    }
    const auto life =
        value.time_to_live == neptune::Duration::zero() ? kUnlimited : value.time_to_live;
    const auto life_ms = std::chrono::ceil<std::chrono::milliseconds>(life).count();
    const std::string name = StrCat(entry_prefix_, key.query);
    const std::string entry =
        EncodeRedisEntry({key.index_version, now.time_since_epoch().count(),
                          value.time_to_live.count(), options_.hash_seed, std::move(value.value)},
                         {.key = name, .secrets = options_.seal_secrets});
    NEPTUNE_RETURN_IF_ERROR(
        Run(kInsert, {key.query, entry, StrCat(life_ms), StrCat(size), StrCat(options_.size_max)}));
    ++insert_count_;
    return true;
  }

  // May also remove entries that are inserted concurrently.
  Status Clear() override {
    const uint64_t count = entry_count_;
    NEPTUNE_RETURN_IF_ERROR(Run(kDropOldest, {}));
    for (uint64_t i = 0; i < count / 1000 && entry_count_ > 0; ++i) {
      NEPTUNE_RETURN_IF_ERROR(Run(kDropOldest, {}));
    }
    return neptune::OkStatus();
  }

  ResultCacheStats Stats() const override {
    return {.hit_count = hit_count_,
            .miss_count = miss_count_,
            .insert_count = insert_count_,
            .refused_count = refused_count_,
            .eviction_count = eviction_count_,
            .expiration_count = expiration_count_,
            .size = size_,
            .entry_count = entry_count_};
  }

  std::string_view name() const override { return kRedisCacheName; }
  bool Waits() const override { return true; }

 private:
  // For entries of other processes the age follows from the remaining time in Redis, because
  // callers' clocks are comparable only within one process.
  neptune::Duration AgeOf(const RedisEntry& entry, neptune::Duration left, TimePoint now) const {
    if (entry.clock == options_.hash_seed) {
      return neptune::Duration(now.time_since_epoch().count() - entry.inserted_ns);
    }
    const neptune::Duration life =
        entry.time_to_live_ns > 0 ? neptune::Duration(entry.time_to_live_ns) : kUnlimited;
    return std::max(life - left, neptune::Duration::zero());
  }

  Status Run(std::string_view body, const RedisCommand& words) {
    const std::string script = StrCat(kScriptBegin, body, kScriptEnd);
    RedisCommand command = {"EVAL", script, "3", keys_[0], keys_[1], keys_[2], entry_prefix_};
    command.insert(command.end(), words.begin(), words.end());
    NEPTUNE_ASSIGN_OR_RETURN(const auto replies, client_->Ask({command}));
    const redisReply& reply = *replies[0];
    NEPTUNE_RETURN_IF_ERROR(CheckKind(reply, REDIS_REPLY_ARRAY));
    if (reply.elements != 4) return neptune::Unavailable("redis: unexpected result of a script");
    for (size_t i = 0; i < reply.elements; ++i) {
      NEPTUNE_RETURN_IF_ERROR(CheckKind(*reply.element[i], REDIS_REPLY_INTEGER));
    }
    eviction_count_ += static_cast<uint64_t>(reply.element[0]->integer);
    size_ = static_cast<uint64_t>(reply.element[1]->integer);
    entry_count_ = static_cast<uint64_t>(reply.element[2]->integer);
    number_ = static_cast<uint64_t>(reply.element[3]->integer);
    return neptune::OkStatus();
  }

  size_t EntryOverhead() const {
    return options_.seal_secrets.empty() ? kRedisEntryOverhead : kSealedRedisEntryOverhead;
  }

  template <typename Nothing>
  StatusOr<Nothing> CountMiss(const Nothing& nothing) {
    ++miss_count_;
    return nothing;
  }
  bool Refuse() {
    ++refused_count_;
    return false;
  }

  const ResultCacheOptions options_;
  const std::unique_ptr<RedisClient> client_;
  const std::string entry_prefix_;
  const std::string keys_[3];
  std::atomic<uint64_t> hit_count_ = 0;
  std::atomic<uint64_t> miss_count_ = 0;
  std::atomic<uint64_t> insert_count_ = 0;
  std::atomic<uint64_t> refused_count_ = 0;
  std::atomic<uint64_t> eviction_count_ = 0;
  std::atomic<uint64_t> expiration_count_ = 0;
  // Results of the latest script of this process.
  std::atomic<uint64_t> size_ = 0;
  std::atomic<uint64_t> entry_count_ = 0;
  std::atomic<uint64_t> number_ = 0;  // number of the last insert
};

}  // namespace

StatusOr<std::unique_ptr<ResultCache>> MakeRedisCache(const ResultCacheOptions& options) {
  if (options.size_max < kSizeMin) {
    return neptune::InvalidArgument("size_max is ", options.size_max, ", less than ", kSizeMin);
  }
  if (options.key_prefix.empty() || options.key_prefix.size() > kKeyPrefixSizeMax) {
    return neptune::InvalidArgument("key_prefix must be 1 to ", kKeyPrefixSizeMax, " bytes");
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto client,
                           RedisClient::Create(options.server, options.server_timeout,
                                               {options.server_user, options.server_password}));
  return std::make_unique<RedisCache>(options, std::move(client));
}

}  // namespace search::cache
