// A server of the page cache: pages in memory, by name.
//
//   Find    FindPageRequest → FoundPage
//   Store   StorePageRequest → nothing; a write
//   Drop    DropPageRequest → nothing; a write
//
// Source: [Chu05] VI.A (BBS).
// Threads: see ServiceModule.
// Errors: kInvalidArgument a page over kPageSizeMax, or without a name.
// Limits: kPageSizeMax bytes a page.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/examples/forum/page_store.h"
#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr size_t kPageSizeMax = size_t{1} << 20;

class PageCacheModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "page_cache"; }

 private:
  Status Find(RequestContext& context, const Data& request, Data* response);
  Status Store(RequestContext& context, const Data& request);
  Status Drop(RequestContext& context, const Data& request);

  uint64_t page_count_max_ = 1000;  // fixed before Start
  ModelledWork work_;
  LeafMutex mutex_;
  std::map<PartitionId, PageStore> partitions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune::examples
