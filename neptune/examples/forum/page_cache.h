// Where the forum looks for a page before it asks the database: the interface, and the list of what there is.
//
// Source: [Chu05] VI.A (BBS).
// Threads: thread-safe; every method on a user-level thread, which it may park until the deadline.
// Errors: those of whatever keeps the pages; a caller goes on without the cache.

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

// On whose behalf the cache is asked, and how long it may take.
struct PageCacheUse {
  ClientSession& session;
  TimePoint deadline;
  uint64_t work_seed = 0;  // see modelled_work.h
};

class PageCache {
 public:
  virtual ~PageCache() = default;
  // nullopt: there is none of that name.
  virtual StatusOr<std::optional<std::string>> Find(const std::string& name,
                                                    const PageCacheUse& use) = 0;
  virtual Status Store(const std::string& name, const std::string& page,
                       const PageCacheUse& use) = 0;
  virtual Status Drop(const std::string& name, const PageCacheUse& use) = 0;
};

using PageCacheFactory = std::function<StatusOr<std::unique_ptr<PageCache>>(const ModuleContext&)>;

// What the forum's parameter `page_cache` names:
//   service   the service page_cache, in partitions by the page's name (default)
// Errors: kInvalidArgument no such cache, or a parameter of it.
StatusOr<std::unique_ptr<PageCache>> MakePageCache(const ModuleContext& context);

}  // namespace neptune::examples
