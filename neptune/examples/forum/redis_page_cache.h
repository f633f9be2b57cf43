// A page cache on real Redis servers, accessed with hiredis: a blocking client that is unaware of
// user-level threads.
//
// Pages are distributed over the servers by name. In a program that links `neptune/interpose`, a
// request that waits for a server parks its user-level thread in that server's capsule, `match:
// inet:ADDRESS:PORT`, and a refusal by the capsule appears as a refused connection. In any other
// program it blocks its kernel thread.
//
// Source: [Chu05] VI.A (two partitioned document cache servers), VI.E.
// Threads: see page_cache.h.
// Errors: kUnavailable the server does not answer in time, or sends an invalid reply;
//   kInvalidArgument the parameter is invalid.
// Limits: kIdleConnectionCountMax idle connections to each server are kept for later requests.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "neptune/examples/forum/page_cache.h"

namespace neptune::examples {

inline constexpr size_t kIdleConnectionCountMax = 64;

// For a forum: its parameter redis_servers, "127.0.0.1:6379,127.0.0.1:6380", names the servers.
std::unique_ptr<PageCache> MakeRedisPageCache();
// For callers that are not modules; `servers` has the format of the parameter.
StatusOr<std::unique_ptr<PageCache>> RedisPageCacheAt(std::string servers);

}  // namespace neptune::examples
