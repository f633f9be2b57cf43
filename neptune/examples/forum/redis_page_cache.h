// The page cache of real Redis servers, asked with hiredis: a blocking client that knows nothing of user-level threads.
//
// Pages are spread over the servers by name. In a program that links `neptune/capsule/interpose` a request that waits
// for one parks its user-level thread in that server's capsule, `match: inet:ADDRESS:PORT`, and a capsule that refuses
// it is a connection refused; in any other program it blocks its kernel thread.
//
// Parameters of the forum:
//   redis_servers   "127.0.0.1:6379,127.0.0.1:6380". Required.
//
// Source: [Chu05] VI.A (two partitioned document cache servers), VI.E.
// Threads: as page_cache.h says.
// Errors: kUnavailable the server does not answer in time, or says what it should not; kInvalidArgument the parameter.
// Limits: kIdleConnectionCountMax connections to each server wait for the next request.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "neptune/examples/forum/page_cache.h"

namespace neptune::examples {

inline constexpr size_t kIdleConnectionCountMax = 64;

StatusOr<std::unique_ptr<PageCache>> MakeRedisPageCache(const ModuleContext& context);
// The same for whoever is no module; `servers` as the parameter has them.
StatusOr<std::unique_ptr<PageCache>> RedisPageCacheAt(std::string_view servers);

}  // namespace neptune::examples
