// The forum's page cache, consulted before the database: the interface, and the list of
// implementations.
//
// Source: [Chu05] VI.A (BBS).
// Threads: thread-safe; every method runs on a user-level thread and may park it until the
//   deadline.
// Errors: those of the implementation; the caller continues without the cache.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

// The request that uses the cache, and its time limit.
struct PageCacheUse {
  ClientSession& session;
  TimePoint deadline;
  uint64_t work_seed = 0;  // see modelled_work.h
};

class PageCache {
 public:
  virtual ~PageCache() = default;
  // Returns nullopt if there is no page of that name.
  virtual StatusOr<std::optional<std::string>> Find(const std::string& name,
                                                    const PageCacheUse& use) = 0;
  virtual Status Store(const std::string& name, const std::string& page,
                       const PageCacheUse& use) = 0;
  virtual Status Drop(const std::string& name, const PageCacheUse& use) = 0;
};

using PageCacheFactory = std::function<StatusOr<std::unique_ptr<PageCache>>(const ModuleContext&)>;

// Makes the cache named by the forum's parameter `page_cache`:
//   service   the service page_cache, partitioned by the page's name (default)
// Errors: kInvalidArgument no such cache, or an invalid parameter of it.
StatusOr<std::unique_ptr<PageCache>> MakePageCache(const ModuleContext& context);

}  // namespace neptune::examples
