// The forum's page cache, consulted before the database: the interface.
//
// Source: [Chu05] VI.A (BBS).
// Threads: thread-safe; every method runs on a user-level thread and may park it until the
//   deadline.
// Errors: those of the implementation; the caller continues without the cache.

#pragma once

#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/client.h"
#include "neptune/service/parameter_table.h"

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
  // Declares the parameters that the forum has because of this cache.
  virtual void DeclareParameters(ParameterTable& table) = 0;
  // Called once after the parameters were set, before the functions below.
  virtual Status Start() { return OkStatus(); }
  // Returns nullopt if there is no page of that name.
  virtual StatusOr<std::optional<std::string>> Find(const std::string& name,
                                                    const PageCacheUse& use) = 0;
  virtual Status Store(const std::string& name, const std::string& page,
                       const PageCacheUse& use) = 0;
  virtual Status Drop(const std::string& name, const PageCacheUse& use) = 0;
};

}  // namespace neptune::examples
